/* The time of day, counted from the start of the machine. */
#ifndef PILLION_SYS_TIME_H
#define PILLION_SYS_TIME_H

#include <linux/time.h>

#ifdef __cplusplus
extern "C" {
#endif

int gettimeofday(struct timeval *__restrict time, void *__restrict zone);

#ifdef __cplusplus
}
#endif

#define timerisset(t) ((t)->tv_sec || (t)->tv_usec)
#define timerclear(t) ((t)->tv_sec = (t)->tv_usec = 0)
#define timercmp(t1, t2, op) ((t1)->tv_sec == (t2)->tv_sec ? (t1)->tv_usec op(t2)->tv_usec : (t1)->tv_sec op(t2)->tv_sec)
#define timeradd(t1, t2, sum) do { \
	(sum)->tv_sec = (t1)->tv_sec + (t2)->tv_sec; \
	(sum)->tv_usec = (t1)->tv_usec + (t2)->tv_usec; \
	if ((sum)->tv_usec >= 1000000) { (sum)->tv_sec++; (sum)->tv_usec -= 1000000; } \
} while (0)
#define timersub(t1, t2, rest) do { \
	(rest)->tv_sec = (t1)->tv_sec - (t2)->tv_sec; \
	(rest)->tv_usec = (t1)->tv_usec - (t2)->tv_usec; \
	if ((rest)->tv_usec < 0) { (rest)->tv_sec--; (rest)->tv_usec += 1000000; } \
} while (0)

#endif
