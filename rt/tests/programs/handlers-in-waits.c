/*
 * Signal handlers run while their thread waits for a mutex, a read-write lock, a barrier or the end
 * of a routine; the wait continues afterwards. Handlers held back by interrupts that are off run
 * once they are on, and hold up no wait.
 *
 * limit: 20
 * prints: mutex: handler, then 0
 * prints: mutex with inheritance: handler, then 0
 * prints: mutex, timed: handler, then 110
 * prints: reader: handler, then 0
 * prints: writer: handler, then 0
 * prints: barrier: handler, then met
 * prints: once: handler, then 0
 * prints: with interrupts off: then 0, handler, end
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <signal.h>
#include <time.h>
#include <pillion.h>

static pthread_t waiter;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, inherits;
static pthread_rwlock_t rwlock;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static volatile int step;

static void handler(int signal)
{
	rtl_printf("handler, ");
}

static void routine(void)
{
	usleep(2000);
}

static void *holds(void *unused)
{
	pthread_mutex_lock(&plain);
	pthread_mutex_lock(&inherits);
	pthread_rwlock_wrlock(&rwlock);
	for (;;) {
		pthread_suspend_np(pthread_self());
		if (step == 6) {
			pthread_once(&once, routine);
			continue;
		}
		usleep(1000);
		pthread_kill(waiter, RTL_SIGUSR1);
		usleep(1000);
		switch (step) {
		case 0:
		case 7:
			pthread_mutex_unlock(&plain);
			break;
		case 1:
			pthread_mutex_unlock(&inherits);
			break;
		case 3:
		case 4:
			pthread_rwlock_unlock(&rwlock);
			break;
		case 5:
			rtl_printf(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD ? "then met\n" : "then not met\n");
			break;
		}
		/* The waiter must get it first. */
		usleep(1000);
		if (step == 0)
			pthread_mutex_lock(&plain);
		if (step == 3)
			pthread_rwlock_wrlock(&rwlock);
	}
	return unused;
}

static pthread_t holder;

static void *signals(void *unused)
{
	usleep(1000);
	pthread_kill(waiter, RTL_SIGUSR1);
	return unused;
}

static void begin(int number, const char *name)
{
	step = number;
	rtl_printf("%s: ", name);
	pthread_wakeup_np(holder);
}

static void *waits(void *unused)
{
	static char stack[20000];
	struct sigaction action = { 0 };
	struct timespec time;
	pthread_attr_t attr;
	pthread_t helper;
	unsigned long flags;
	int result;

	action.sa_handler = handler;
	sigaction(RTL_SIGUSR1, &action, NULL);
	begin(0, "mutex");
	rtl_printf("then %d\n", pthread_mutex_lock(&plain));
	pthread_mutex_unlock(&plain);
	usleep(5000);
	begin(1, "mutex with inheritance");
	rtl_printf("then %d\n", pthread_mutex_lock(&inherits));
	usleep(5000);
	begin(2, "mutex, timed");
	time = timespec_from_ns(gethrtime() + 3000000);
	rtl_printf("then %d\n", pthread_mutex_timedlock(&plain, &time));
	usleep(5000);
	begin(3, "reader");
	rtl_printf("then %d\n", pthread_rwlock_rdlock(&rwlock));
	pthread_rwlock_unlock(&rwlock);
	usleep(5000);
	begin(4, "writer");
	rtl_printf("then %d\n", pthread_rwlock_wrlock(&rwlock));
	usleep(5000);
	begin(5, "barrier");
	pthread_barrier_wait(&barrier);
	usleep(5000);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	begin(6, "once");
	pthread_create(&helper, &attr, signals, NULL);
	usleep(500);
	rtl_printf("then %d\n", pthread_once(&once, routine));
	begin(7, "with interrupts off");
	rtl_no_interrupts(flags);
	result = pthread_mutex_lock(&plain);
	rtl_printf("then %d, ", result);
	rtl_restore_interrupts(flags);
	sched_yield();
	rtl_printf("end\n");
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inherits, &attr);
	pthread_rwlock_init(&rwlock, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&holder, NULL, holds, NULL);
	return pthread_create(&waiter, NULL, waits, NULL);
}

void cleanup_module(void)
{
}
