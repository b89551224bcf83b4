/*
 * Whatever ends in an unusual way, a thread holds the task's lock, which is "interrupts off", as
 * often as it took it: it keeps a more urgent thread out while it holds a spin lock or has
 * interrupts off, and at no other time.
 *
 * prints: at first: kept out 0, off 1, on 0
 * prints: spin mutex, time over: 0, kept out 1; released: kept out 0, off 1, on 0
 * prints: spin mutex, timed: 0, kept out 1; released: kept out 0, off 1, on 0
 * prints: spin mutex of an ended thread, tried: 130, kept out 1; released: kept out 0, off 1, on 0
 * prints: spin mutex of an ended thread, locked: 130, kept out 1; released: kept out 0, off 1, on 0
 * prints: spin mutex that is lost, locked: 131; kept out 0, off 1, on 0
 * prints: spin mutex that is lost, tried: 131; kept out 0, off 1, on 0
 * prints: spin mutex that is lost, timed: 131; kept out 0, off 1, on 0
 * prints: spin mutex that is taken, time over: 110; kept out 0, off 1, on 0
 * prints: spin lock that is taken, tried: 16; released: kept out 0, off 1, on 0
 * prints: thread cancelled with interrupts off: kept out 0, off 1, on 0
 * prints: main thread ended with interrupts off: kept out 0, off 1, on 0
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <errno.h>
#include <signal.h>
#include <time.h>
#include <pillion.h>

#include "own-stacks.h"

static const struct timespec past = { 0, 1 };
static pthread_mutex_t mutex;
static pthread_t counter;
static volatile int came;
static int ends, goes_on;

/* Counts how often it can switch interrupts off, ten times a millisecond. */
static void *urgent(void *unused)
{
	for (;;) {
		usleep(100);
		rtl_stop_interrupts();
		came++;
		rtl_allow_interrupts();
	}
	return unused;
}

/* Whether the urgent thread is kept out for a millisecond. */
static int kept_out(void)
{
	int before = came;

	rtl_delay(1000000);
	return came == before;
}

static void balance(void)
{
	int at_first = kept_out(), off;

	rtl_stop_interrupts();
	off = kept_out();
	rtl_allow_interrupts();
	rtl_printf("kept out %d, off %d, on %d\n", at_first, off, kept_out());
}

static void robust(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_SPINLOCK_NP);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attr);
}

static void *takes(void *unused)
{
	pthread_mutex_lock(&mutex);
	return unused;
}

static void taken(const char *how, int result)
{
	int held = kept_out();

	pthread_mutex_unlock(&mutex);
	rtl_printf("spin mutex%s: %d, kept out %d; released: ", how, result, held);
	balance();
}

static void refused(const char *how, int result)
{
	rtl_printf("spin mutex that is %s: %d; ", how, result);
	balance();
}

static void of_ended_thread(void)
{
	robust();
	pthread_join(start(20, takes), NULL);
}

/* Releases what it took, so that another thread can wait for it, although it sleeps with it. */
static void *sleeps_with(void *unused)
{
	pthread_mutex_lock(&mutex);
	usleep(20000);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void mutexes(void)
{
	pthread_t other;
	struct timespec soon;

	robust();
	taken(", time over", pthread_mutex_timedlock(&mutex, &past));
	clock_gettime(CLOCK_RTL_SCHED, &soon);
	timespec_add_ns(&soon, 1000000);
	taken(", timed", pthread_mutex_timedlock(&mutex, &soon));
	of_ended_thread();
	taken(" of an ended thread, tried", pthread_mutex_trylock(&mutex));
	of_ended_thread();
	taken(" of an ended thread, locked", pthread_mutex_lock(&mutex));
	/* Released without having been repaired, it is lost. */
	refused("lost, locked", pthread_mutex_lock(&mutex));
	refused("lost, tried", pthread_mutex_trylock(&mutex));
	refused("lost, timed", pthread_mutex_timedlock(&mutex, &past));
	robust();
	other = start(20, sleeps_with);
	clock_gettime(CLOCK_RTL_SCHED, &soon);
	timespec_add_ns(&soon, 1000000);
	refused("taken, time over", pthread_mutex_timedlock(&mutex, &soon));
	pthread_join(other, NULL);
}

static void spin_locks(void)
{
	spinlock_t lock = SPIN_LOCK_UNLOCKED;
	int result;

	rtl_spin_lock(&lock);
	result = pthread_spin_trylock((pthread_spinlock_t *)&lock);
	rtl_spin_unlock(&lock);
	rtl_printf("spin lock that is taken, tried: %d; released: ", result);
	balance();
}

static void *is_cancelled(void *unused)
{
	rtl_stop_interrupts();
	pthread_cancel(pthread_self());
	pthread_testcancel();
	return unused;
}

static void end_main(int irq, void *device, struct pt_regs *regs)
{
	rtl_stop_interrupts();
	rtl_global_pend_irq(goes_on);
	pthread_exit(NULL);
}

static void go_on(int irq, void *device, struct pt_regs *regs)
{
	rtl_printf("main thread ended with interrupts off: ");
	balance();
	pillion_unload();
}

static void *work(void *unused)
{
	rtl_printf("at first: ");
	balance();
	mutexes();
	spin_locks();
	pthread_join(start(20, is_cancelled), NULL);
	rtl_printf("thread cancelled with interrupts off: ");
	balance();
	rtl_global_pend_irq(ends);
	return unused;
}

int init_module(void)
{
	ends = rtl_get_soft_irq(end_main, "ends");
	goes_on = rtl_get_soft_irq(go_on, "goes on");
	counter = start(50, urgent);
	start(10, work);
	return 0;
}

void cleanup_module(void)
{
	pthread_delete_np(counter);
}
