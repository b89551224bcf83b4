/*
 * A wake-up of the running thread is cleared by the next rtl_schedule, which pthread_wakeup_np
 * includes; otherwise the next wait returns at once. A signal handler may end the wait in which it
 * runs, and no other.
 *
 * limit: 20
 * prints: without rtl_schedule: the wait returns at once
 * prints: rtl_schedule tells of it: 1, and uses it up: the wait waits
 * prints: pthread_wakeup_np uses it up: the wait waits
 * prints: a yield uses it up: the wait waits
 * prints: a FIFO's handler wakes its own consumer: 3 records, 4 rounds
 * prints: a signal's handler in a suspension: counts once
 * prints: a signal's handler in a period: ends it, counts once
 * prints: a signal's handler that wakes nobody: the period goes on
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <signal.h>
#include <pillion.h>

#define PERIOD 1000000

static pthread_t thread, producer;
static volatile int rounds, records, done, wakes;

static const char *next_wait(void)
{
	hrtime_t begun = gethrtime();

	pthread_wait_np();
	return gethrtime() - begun > PERIOD / 10 ? "waits" : "returns at once";
}

static int consumes(unsigned int fifo)
{
	pthread_wakeup_np(thread);
	return 0;
}

static void handler(int signal)
{
	if (wakes)
		pthread_wakeup_np(pthread_self());
}

static void *produce(void *unused)
{
	int i;

	for (i = 0; i < 3; i++) {
		usleep(1000);
		rtf_put(1, &i, sizeof(i));
	}
	usleep(1000);
	done = 1;
	pthread_wakeup_np(thread);
	pthread_suspend_np(pthread_self());
	pthread_kill(thread, RTL_SIGUSR1);
	usleep(300);
	pthread_wakeup_np(thread);
	pthread_suspend_np(pthread_self());
	usleep(300);
	pthread_kill(thread, RTL_SIGUSR1);
	pthread_suspend_np(pthread_self());
	usleep(300);
	pthread_kill(thread, RTL_SIGUSR1);
	return unused;
}

static void *work(void *unused)
{
	struct sigaction action = { 0 };
	static char stack[20000];
	pthread_attr_t attr;
	hrtime_t begun, ended;
	int data;

	pthread_make_periodic_np(pthread_self(), gethrtime() + PERIOD, PERIOD);
	pthread_wait_np();
	pthread_kill(pthread_self(), RTL_SIGNAL_WAKEUP);
	rtl_printf("without rtl_schedule: the wait %s\n", next_wait());
	pthread_wait_np();
	pthread_kill(pthread_self(), RTL_SIGNAL_WAKEUP);
	data = rtl_schedule();
	rtl_printf("rtl_schedule tells of it: %d, and uses it up: the wait %s\n", data >> RTL_SIGNAL_WAKEUP & 1, next_wait());
	pthread_wakeup_np(pthread_self());
	rtl_printf("pthread_wakeup_np uses it up: the wait %s\n", next_wait());
	pthread_kill(pthread_self(), RTL_SIGNAL_WAKEUP);
	sched_yield();
	rtl_printf("a yield uses it up: the wait %s\n", next_wait());

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	pthread_create(&producer, &attr, produce, NULL);
	while (!done && rounds < 10) {
		pthread_suspend_np(pthread_self());
		rounds++;
		while (rtf_get(1, &data, sizeof(data)) > 0)
			records++;
	}
	rtl_printf("a FIFO's handler wakes its own consumer: %d records, %d rounds\n", records, rounds);

	action.sa_handler = handler;
	sigaction(RTL_SIGUSR1, &action, NULL);
	wakes = 1;
	pthread_wakeup_np(producer);
	pthread_suspend_np(pthread_self());
	begun = gethrtime();
	pthread_suspend_np(pthread_self());
	rtl_printf("a signal's handler in a suspension: counts %s\n", gethrtime() - begun > 100000 ? "once" : "twice");

	pthread_make_periodic_np(pthread_self(), gethrtime() + PERIOD, PERIOD);
	pthread_wakeup_np(producer);
	begun = gethrtime();
	pthread_wait_np();
	ended = gethrtime();
	rtl_printf("a signal's handler in a period: %s, ", ended - begun < PERIOD / 2 ? "ends it" : "does not end it");
	pthread_wait_np();
	rtl_printf("counts %s\n", gethrtime() - ended > 100000 ? "once" : "twice");

	wakes = 0;
	pthread_wakeup_np(producer);
	rtl_printf("a signal's handler that wakes nobody: the period %s\n", next_wait()[0] == 'w' ? "goes on" : "ends");
	pillion_unload();
	return unused;
}

int init_module(void)
{
	rtf_create(1, 1000);
	rtf_create_rt_handler(1, consumes);
	return pthread_create(&thread, NULL, work, NULL);
}

void cleanup_module(void)
{
	rtf_destroy(1);
}
