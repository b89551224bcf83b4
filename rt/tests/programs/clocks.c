/*
 * Clocks: the monotonic one never changes; the scheduler's can be set and can advance in steps.
 * Sleeps and timeouts follow their clock.
 *
 * prints: monotonic and real time agree
 * prints: set: 1000 s, monotonic -1 errno 22
 * prints: sleeps until 1000.005 s: on time
 * prints: steps of 1000000: remainder 0, resolution 1000000
 * prints: mode: -22 -22 -22
 * prints: relative sleep of 2 ms took 2 ms
 * prints: times: 1.5 2.0 -0.5 1
 * prints: bad time 22, past time 0
 * prints: best clock 1 0, scheduler's clock 1
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <time.h>
#include <pillion.h>

static pthread_t thread;

static void *work(void *x)
{
	struct timespec t = { 1000, 0 }, u, bad = { 0, 1000000000 };
	hrtime_t a, b;
	int error;

	a = clock_gethrtime(CLOCK_MONOTONIC);
	b = clock_gethrtime(CLOCK_REALTIME);
	rtl_printf("monotonic and real time %s\n", b >= a && b - a < 10000 ? "agree" : "differ");
	clock_settime(CLOCK_REALTIME, &t);
	clock_gettime(CLOCK_REALTIME, &u);
	error = clock_settime(CLOCK_MONOTONIC, &t);
	rtl_printf("set: %ld s, monotonic %d errno %d\n", (long)u.tv_sec, error, errno);
	t.tv_nsec = 5000000;
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
	a = clock_gethrtime(CLOCK_REALTIME) - timespec_to_ns(&t);
	rtl_printf("sleeps until 1000.005 s: %s\n", a >= 0 && a < 20000 ? "on time" : "not on time");
	t.tv_sec = t.tv_nsec = 0;
	rtl_setclockmode(CLOCK_REALTIME, RTL_CLOCK_MODE_PERIODIC, 1000000);
	clock_settime(CLOCK_REALTIME, &t);
	clock_getres(CLOCK_REALTIME, &u);
	usleep(2500);
	rtl_printf("steps of 1000000: remainder %d, resolution %ld\n", (int)(clock_gethrtime(CLOCK_REALTIME) % 1000000), u.tv_nsec);
	rtl_setclockmode(CLOCK_REALTIME, RTL_CLOCK_MODE_ONESHOT, 0);
	rtl_printf("mode: %d %d %d\n", rtl_setclockmode(CLOCK_REALTIME, 7, 0), rtl_setclockmode(CLOCK_REALTIME, RTL_CLOCK_MODE_PERIODIC, 0),
		rtl_setclockmode(NULL, RTL_CLOCK_MODE_ONESHOT, 0));
	a = gethrtime();
	clock_nanosleep(CLOCK_MONOTONIC, 0, hrt2ts(2000000), NULL);
	rtl_printf("relative sleep of 2 ms took %ld ms\n", (long)((gethrtime() - a) / 1000000));
	t = timespec_from_ns(1500000000);
	u = t;
	timespec_add_ns(&u, 500000000);
	rtl_printf("times: %ld.%ld %ld.%ld ", (long)t.tv_sec, t.tv_nsec / 100000000, (long)u.tv_sec, t.tv_nsec / 1000000000);
	timespec_sub(&t, &u);
	rtl_printf("-0.%ld %d\n", (long)(timespec_to_ns(&t) / -100000000), timespec_lt(&t, &u));
	rtl_printf("bad time %d, ", clock_nanosleep(CLOCK_REALTIME, 0, &bad, NULL));
	t.tv_sec = t.tv_nsec = 0;
	rtl_printf("past time %d\n", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
	rtl_printf("best clock %d %d, scheduler's clock %d\n", rtl_getbestclock(0) == CLOCK_APIC, rtl_getbestclock(1) != NULL,
		rtl_getschedclock() == CLOCK_REALTIME);
	pillion_unload();
	return x;
}

int init_module(void)
{
	return pthread_create(&thread, NULL, work, NULL);
}

void cleanup_module(void) { }
