/*
 * Time. Of the C library's header it has only dates. There is no clock(): tasks have none, and
 * programs have variables of that name.
 */
#ifndef PILLION_TIME_H
#define PILLION_TIME_H

#include <rtl_time.h>
#define __NEED_timer_t
#include <bits/alltypes.h>

#ifdef __cplusplus
/* <ctime> needs every name of the C library's header, which has other numbers for its clocks. */
#pragma push_macro("CLOCK_REALTIME")
#pragma push_macro("CLOCK_MONOTONIC")
#undef CLOCK_REALTIME
#undef CLOCK_MONOTONIC
#include_next <time.h>
#pragma pop_macro("CLOCK_REALTIME")
#pragma pop_macro("CLOCK_MONOTONIC")
#else

struct sigevent;

#define TIMER_ABSTIME 1

struct itimerspec {
	struct timespec it_interval, it_value;
};

int clock_getres(clockid_t clock, struct timespec *resolution);
int clock_gettime(clockid_t clock, struct timespec *time);
int clock_settime(clockid_t clock, const struct timespec *time);
int nanosleep(const struct timespec *time, struct timespec *rest);
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest);
time_t time(time_t *seconds);

int timer_create(clockid_t clock, struct sigevent *__restrict event, timer_t *__restrict timer);
int timer_delete(timer_t timer);
int timer_settime(timer_t timer, int flags, const struct itimerspec *__restrict setting, struct itimerspec *__restrict old);
int timer_gettime(timer_t timer, struct itimerspec *setting);
int timer_getoverrun(timer_t timer);

struct tm {
	int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
	long tm_gmtoff;
	const char *tm_zone;
};

double difftime(time_t end, time_t begin);
time_t timegm(struct tm *date);
struct tm *gmtime(const time_t *time);
struct tm *gmtime_r(const time_t *__restrict time, struct tm *__restrict date);
char *asctime(const struct tm *date);
char *asctime_r(const struct tm *__restrict date, char *__restrict text);

#endif

#endif
