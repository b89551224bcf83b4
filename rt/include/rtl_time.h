/* Clocks. All of them start with the processor and count nanoseconds. */
#ifndef RTL_TIME_H
#define RTL_TIME_H

#include <rtl_conf.h>
#include <errno.h>
#define __NEED_time_t
#define __NEED_clockid_t
#define __NEED_struct_timespec
#include <bits/alltypes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds. */
typedef long long hrtime_t;
#define HRTIME_INFINITY 0x7fffffffffffffffLL
#define NSECS_PER_SEC 1000000000
#define NSEC_PER_SEC NSECS_PER_SEC

#define HRTICKS_PER_SEC NSECS_PER_SEC
#define HRT_FROM_NS(ns) (ns)

/* Ticks of the 8254 timer: 1,193,180 a second. */
static __inline__ hrtime_t hrt_to_8254(hrtime_t time)
{
	return time / NSECS_PER_SEC * 1193180 + time % NSECS_PER_SEC * 1193180 / NSECS_PER_SEC;
}

static __inline__ hrtime_t _8254_to_hrt(hrtime_t ticks)
{
	return ticks / 1193180 * NSECS_PER_SEC + ticks % 1193180 * NSECS_PER_SEC / 1193180;
}

#define HRT_TO_8254(time) hrt_to_8254(time)
#define HRT_FROM_8254(ticks) _8254_to_hrt(ticks)

struct pt_regs;
typedef void (*clock_irq_handler_t)(struct pt_regs *);

struct rtl_clock {
	int (*init)(struct rtl_clock *);
	void (*uninit)(struct rtl_clock *);
	int (*settimer)(struct rtl_clock *, hrtime_t interval);
	int (*settimermode)(struct rtl_clock *, int mode);
	hrtime_t (*gethrtime)(struct rtl_clock *);
	volatile int mode;
	volatile hrtime_t resolution;
	volatile hrtime_t value;
	unsigned int number_;
};

extern struct rtl_clock rtl_clock_monotonic, rtl_clock_realtime, rtl_clock_gpos, rtl_clock_8254, rtl_clock_apic;

/* Never set, and never advances in steps. */
#define CLOCK_MONOTONIC (&rtl_clock_monotonic)
#define CLOCK_UST CLOCK_MONOTONIC
/* The scheduler's clock. */
#define CLOCK_REALTIME (&rtl_clock_realtime)
#define CLOCK_RTL_SCHED CLOCK_REALTIME
/* The program may set it to Linux's time. */
#define CLOCK_GPOS (&rtl_clock_gpos)
/* Timers for the program's own use, see rtl_setclockhandler: one, and one for each processor. */
#define CLOCK_8254 (&rtl_clock_8254)
#define CLOCK_APIC (&rtl_clock_apic)
#define _i8254_clock rtl_clock_8254
#define _apic_clock rtl_clock_apic

#define RTL_CLOCK_MODE_UNINITIALIZED 0
#define RTL_CLOCK_MODE_ONESHOT 1
#define RTL_CLOCK_MODE_PERIODIC 2

#define RTL_CLOCK_DEFAULTS {}

hrtime_t gethrtime(void);
hrtime_t gethrtimeres(void);
hrtime_t clock_gethrtime(clockid_t clock);

/* Makes a clock advance smoothly, or in steps of `period`. */
int rtl_setclockmode(clockid_t clock, int mode, hrtime_t period);
clockid_t rtl_getschedclock(void);
clockid_t rtl_getbestclock(unsigned int cpu);

/* Raw timers: set a handler, which gets NULL, then use a clock's init, settimermode, settimer. */
int rtl_setclockhandler(clockid_t clock, clock_irq_handler_t handler);
int rtl_unsetclockhandler(clockid_t clock);

/* Busy-waits. */
void rtl_delay(long ns);

/* Converts a time. The result lies in the calling thread's own storage until its next call. */
const struct timespec *rtl_hrt2ts(hrtime_t time);
#define hrt2ts(time) rtl_hrt2ts(time)

#define timespec_normalize(t) do { \
	while ((t)->tv_nsec >= NSECS_PER_SEC) { (t)->tv_nsec -= NSECS_PER_SEC; (t)->tv_sec++; } \
	while ((t)->tv_nsec < 0) { (t)->tv_nsec += NSECS_PER_SEC; (t)->tv_sec--; } \
} while (0)
#define timespec_add(t1, t2) do { \
	(t1)->tv_nsec += (t2)->tv_nsec; \
	(t1)->tv_sec += (t2)->tv_sec; \
	timespec_normalize(t1); \
} while (0)
#define timespec_sub(t1, t2) do { \
	(t1)->tv_nsec -= (t2)->tv_nsec; \
	(t1)->tv_sec -= (t2)->tv_sec; \
	timespec_normalize(t1); \
} while (0)
#define timespec_add_ns(t, n) do { \
	hrtime_t rtl_ns_ = (n); \
	(t)->tv_sec += rtl_ns_ / NSECS_PER_SEC; \
	(t)->tv_nsec += rtl_ns_ % NSECS_PER_SEC; \
	timespec_normalize(t); \
} while (0)
#define timespec_nz(t) ((t)->tv_sec != 0 || (t)->tv_nsec != 0)
#define timespec_lt(t1, t2) ((t1)->tv_sec < (t2)->tv_sec || ((t1)->tv_sec == (t2)->tv_sec && (t1)->tv_nsec < (t2)->tv_nsec))
#define timespec_gt(t1, t2) timespec_lt(t2, t1)
#define timespec_ge(t1, t2) (!timespec_lt(t1, t2))
#define timespec_le(t1, t2) (!timespec_lt(t2, t1))
#define timespec_eq(t1, t2) ((t1)->tv_sec == (t2)->tv_sec && (t1)->tv_nsec == (t2)->tv_nsec)

static __inline__ hrtime_t timespec_to_ns(const struct timespec *t)
{
	return (hrtime_t)t->tv_sec * NSECS_PER_SEC + t->tv_nsec;
}

static __inline__ struct timespec timespec_from_ns(hrtime_t ns)
{
	struct timespec t;

	t.tv_sec = ns / NSECS_PER_SEC;
	t.tv_nsec = ns % NSECS_PER_SEC;
	timespec_normalize(&t);
	return t;
}

#ifdef __cplusplus
}
#endif

#endif
