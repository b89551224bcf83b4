/*
 * Timers that come late, because a clock was set or a more urgent thread ran, fire once and count
 * what they missed.
 *
 * prints: absolute, every ms: set forward by a minute: 4 signals in 3 ms, 59999 missed at the first
 * prints: nobody stood still: 1
 * prints: absolute, in an hour: set forward by two: fired 1
 * prints: relative, in 2 ms: set forward by a minute: fired 0, then 1
 * prints: relative, in 2 ms: set back by a minute: fired 0, then 1
 * prints: an interval that is over at once: 1
 * prints: raw timer, every 10 us, its first handler takes 1 ms: then 1 made up, 10 in the next 100 us
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <signal.h>
#include <time.h>
#include <pillion.h>

#include "start.h"

static pthread_t urgent, idle;
static volatile int runs, ticks, first_overruns, stop;
static volatile hrtime_t longest;
static timer_t timer;

static void counts(int signal)
{
	if (runs++ == 0)
		first_overruns = timer_getoverrun(timer);
}

static void set_forward(long seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += seconds;
	clock_settime(CLOCK_REALTIME, &now);
}

/* Waits regardless of signals, whose handlers run. */
static void pass(long ns)
{
	hrtime_t end = gethrtime() + ns;
	struct timespec rest;

	while (gethrtime() < end) {
		rest = timespec_from_ns(end - gethrtime());
		nanosleep(&rest, NULL);
	}
}

static void arm(int flags, long first, long interval)
{
	struct itimerspec spec;
	struct timespec now;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = RTL_SIGUSR1 };

	timer_create(CLOCK_REALTIME, &event, &timer);
	clock_gettime(CLOCK_REALTIME, &now);
	spec.it_value = timespec_from_ns(first + (flags & TIMER_ABSTIME ? timespec_to_ns(&now) : 0));
	spec.it_interval = timespec_from_ns(interval);
	runs = 0;
	timer_settime(timer, flags, &spec, NULL);
}

/* The least urgent thread: the longest time that it did not run is what the others took from it. */
static void *watches(void *unused)
{
	hrtime_t last, now;

	pthread_suspend_np(pthread_self());
	last = gethrtime();
	while (!stop) {
		now = gethrtime();
		if (now - last > longest)
			longest = now - last;
		last = now;
	}
	return unused;
}

static void jump(long seconds)
{
	int before;

	arm(0, 2000000, 0);
	set_forward(seconds);
	pass(1000000);
	before = runs;
	pass(2000000);
	rtl_printf("relative, in 2 ms: set %s by a minute: fired %d, then %d\n", seconds > 0 ? "forward" : "back", before, runs);
	timer_delete(timer);
}

static void tick(struct pt_regs *regs)
{
	if (ticks++ == 0)
		rtl_delay(1000000);
}

static void *all(void *unused)
{
	struct sigaction action = { 0 };
	int before;

	action.sa_handler = counts;
	sigaction(RTL_SIGUSR1, &action, NULL);
	arm(TIMER_ABSTIME, 1000000, 1000000);
	pthread_wakeup_np(idle);
	set_forward(60);
	pass(3500000);
	/* Lets the watcher see how long it was away. */
	pass(1000);
	stop = 1;
	rtl_printf("absolute, every ms: set forward by a minute: %d signals in 3 ms, %d missed at the first\n", runs, first_overruns);
	timer_delete(timer);
	rtl_printf("nobody stood still: %d\n", longest < 100000);
	if (longest >= 100000)
		rtl_printf("for %ld\n", (long)longest);
	arm(TIMER_ABSTIME, 3600L * 1000000000, 0);
	set_forward(7200);
	pass(1000000);
	rtl_printf("absolute, in an hour: set forward by two: fired %d\n", runs);
	timer_delete(timer);
	jump(60);
	jump(-60);
	arm(0, 1, 0);
	pass(1000000);
	rtl_printf("an interval that is over at once: %d\n", runs);
	timer_delete(timer);
	rtl_setclockhandler(CLOCK_APIC, tick);
	CLOCK_APIC->init(CLOCK_APIC);
	CLOCK_APIC->settimermode(CLOCK_APIC, RTL_CLOCK_MODE_PERIODIC);
	CLOCK_APIC->settimer(CLOCK_APIC, 10000);
	while (!ticks)
		pass(5000);
	before = ticks;
	pass(100000);
	rtl_printf("raw timer, every 10 us, its first handler takes 1 ms: then %d made up, %d in the next 100 us\n", before - 1, ticks - before);
	CLOCK_APIC->uninit(CLOCK_APIC);
	rtl_unsetclockhandler(CLOCK_APIC);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_create(&idle, NULL, watches, NULL);
	return start(&urgent, 20, all, NULL);
}

void cleanup_module(void)
{
	pthread_join(urgent, NULL);
	pthread_join(idle, NULL);
}
