/*
 * Priority inheritance where simpler protocols fail: a thread that holds two mutexes, chained
 * mutexes, a thread that keeps the higher of two priorities. A thread of middle priority computes
 * far longer than all others. The letters show the order in which threads finish. L, M, H are
 * threads of low, middle and high priority; u means that L has released the first of its mutexes.
 *
 * task: budget = "unlimited"
 * prints: no inheritance: M H L
 * prints: inheritance: H M L
 * prints: longer M: H M L
 * prints: two mutexes, H wants the first released: u H M L
 * prints: two mutexes, H wants the second: u H M L
 * prints: chain: H M 2 L
 * prints: a lock that would never end: 35
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

static char trace[32], stacks[5][16384];
static volatile int at;
static pthread_mutex_t first, second;
static pthread_t threads[5];
static int middle_us;

static void say(char c) { trace[at++] = c; trace[at++] = ' '; trace[at] = 0; }

static void work(int us) { rtl_delay(us * 1000L); }

static void start(int n, int priority, void *(*f)(void *), long arg)
{
	pthread_attr_t attr;
	struct sched_param param = { priority };

	pthread_attr_init(&attr);
	pthread_attr_setschedparam(&attr, &param);
	pthread_attr_setstack(&attr, stacks[n], sizeof(stacks[n]));
	pthread_create(&threads[n], &attr, f, (void *)arg);
}

static void setup(int protocol)
{
	pthread_mutexattr_t attr;

	at = 0;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutex_init(&first, &attr);
	pthread_mutex_init(&second, &attr);
}

static void *holder(void *x)
{
	pthread_mutex_lock(&first);
	work(3000);
	pthread_mutex_unlock(&first);
	work(10);
	say('L');
	return x;
}

static void *two(void *x)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
	work(3000);
	say('u');
	pthread_mutex_unlock(&second);
	work(1000);
	pthread_mutex_unlock(&first);
	work(10);
	say('L');
	return x;
}

static void *lesser(void *mutex)
{
	usleep(500);
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

static void *wants(void *mutex)
{
	usleep(1000);
	pthread_mutex_lock(mutex);
	say('H');
	pthread_mutex_unlock(mutex);
	return NULL;
}

static void *middle(void *x)
{
	usleep(2000);
	work(middle_us);
	say('M');
	return x;
}

/* Holds the second mutex and wants the first. */
static void *link(void *x)
{
	usleep(500);
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	work(10);
	say('2');
	return x;
}

static void *locks_back(void *result)
{
	pthread_mutex_lock(&second);
	usleep(2000);
	*(int *)result = pthread_mutex_lock(&first);
	pthread_mutex_unlock(&second);
	return NULL;
}

static void *locks_forth(void *x)
{
	pthread_mutex_lock(&first);
	usleep(1000);
	pthread_mutex_lock(&second);
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	return x;
}

static void finish(const char *what, int count)
{
	while (count--)
		pthread_join(threads[count], NULL);
	trace[at ? at - 1 : 0] = 0;
	rtl_printf("%s: %s\n", what, trace);
}

static void soft(int irq, void *device, struct pt_regs *regs)
{
	int error = 0;

	middle_us = 5000;
	setup(PTHREAD_PRIO_NONE);
	start(2, 30, wants, (long)&first);
	start(1, 20, middle, 0);
	start(0, 10, holder, 0);
	finish("no inheritance", 3);
	for (; middle_us <= 50000; middle_us *= 10) {
		setup(PTHREAD_PRIO_INHERIT);
		start(2, 30, wants, (long)&first);
		start(1, 20, middle, 0);
		start(0, 10, holder, 0);
		finish(middle_us == 5000 ? "inheritance" : "longer M", 3);
	}
	middle_us = 5000;
	setup(PTHREAD_PRIO_INHERIT);
	start(2, 30, wants, (long)&second);
	start(1, 20, middle, 0);
	start(0, 10, two, 0);
	finish("two mutexes, H wants the first released", 3);
	setup(PTHREAD_PRIO_INHERIT);
	start(3, 15, lesser, (long)&second);
	start(2, 30, wants, (long)&first);
	start(1, 20, middle, 0);
	start(0, 10, two, 0);
	finish("two mutexes, H wants the second", 4);
	setup(PTHREAD_PRIO_INHERIT);
	start(3, 30, wants, (long)&second);
	start(2, 15, link, 0);
	start(1, 20, middle, 0);
	start(0, 10, holder, 0);
	finish("chain", 4);
	setup(PTHREAD_PRIO_INHERIT);
	start(0, 10, locks_forth, 0);
	start(1, 20, locks_back, (long)&error);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	rtl_printf("a lock that would never end: %d\n", error);
	pillion_unload();
}

int init_module(void)
{
	rtl_global_pend_irq(rtl_get_soft_irq(soft, "test"));
	return 0;
}

void cleanup_module(void) { }
