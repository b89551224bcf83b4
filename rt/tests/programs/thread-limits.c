/*
 * Attributes and their limits; a real-time thread creates others only on a stack that it provides;
 * the table of threads is finite.
 *
 * task: threads = 5
 * prints: processor 1 is not this task's: name it in cpus of this task in the system file
 * prints: stack size 20480, too small 22, cpu 22, joinable 0, priority 0, bad priority 22
 * prints: stacks that would wrap: 11 11 22
 * prints: all 5 threads are in use: raise threads of this task in the system file
 * prints: created 4, then 11
 * prints: after one has ended: 0
 * prints: from a thread: 11 without a stack, 0 with one
 * prints: the stack is used: 1
 * prints: keys: 20, then 11; value 5, bad key 22
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

static pthread_t threads[5], parent;
static char stack[16384];

static void *waits(void *x) { pthread_suspend_np(pthread_self()); return x; }

static void *where(void *x)
{
	char here;
	return (void *)(long)(&here > stack && &here < stack + sizeof(stack));
}

static void *creates(void *x)
{
	pthread_t child;
	pthread_attr_t attr;
	void *result;
	int a = pthread_create(&child, NULL, where, NULL), b;

	pthread_attr_init(&attr);
	pthread_attr_setstackaddr(&attr, stack);
	pthread_attr_setstacksize(&attr, sizeof(stack));
	b = pthread_create(&child, &attr, where, NULL);
	rtl_printf("from a thread: %d without a stack, %d with one\n", a, b);
	pthread_join(child, &result);
	rtl_printf("the stack is used: %ld\n", (long)result);
	return x;
}

int init_module(void)
{
	pthread_attr_t attr;
	pthread_key_t key, last = 0;
	struct sched_param param, bad = { -1 };
	size_t size;
	int i, n, state, error, keys = 0;

	pthread_attr_init(&attr);
	pthread_attr_getstacksize(&attr, &size);
	pthread_attr_getdetachstate(&attr, &state);
	pthread_attr_getschedparam(&attr, &param);
	rtl_printf("stack size %ld, too small %d, cpu %d, joinable %d, priority %d, bad priority %d\n", (long)size,
		pthread_attr_setstacksize(&attr, 8191), pthread_attr_setcpu_np(&attr, 1), state, param.sched_priority,
		pthread_attr_setschedparam(&attr, &bad));
	pthread_attr_setstacksize(&attr, -1);
	n = pthread_create(&threads[0], &attr, waits, NULL);
	pthread_attr_setstacksize(&attr, -12288);
	i = pthread_create(&threads[0], &attr, waits, NULL);
	pthread_attr_setstack(&attr, stack, -8192);
	rtl_printf("stacks that would wrap: %d %d %d\n", n, i, pthread_create(&threads[0], &attr, waits, NULL));
	for (n = 0; (error = pthread_create(&threads[n], NULL, waits, NULL)) == 0; n++)
		;
	rtl_printf("created %d, then %d\n", n, error);
	pthread_wakeup_np(threads[0]);
	pthread_join(threads[0], NULL);
	rtl_printf("after one has ended: %d\n", pthread_create(&threads[0], NULL, waits, NULL));
	for (i = 0; i < n; i++)
		pthread_delete_np(threads[i]);
	pthread_create(&parent, NULL, creates, NULL);
	pthread_join(parent, NULL);
	while ((error = pthread_key_create(&key, NULL)) == 0)
		keys++, last = key;
	pthread_setspecific(last, (void *)5);
	rtl_printf("keys: %d, then %d; value %ld, bad key %d\n", keys, error, (long)pthread_getspecific(last), pthread_setspecific(20, NULL));
	pillion_unload();
	return 0;
}

void cleanup_module(void) { }
