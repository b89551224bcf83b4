/*
 * Threads end by returning, pthread_exit, cancellation and deletion; cleanup handlers and
 * destructors run, the newest handler first.
 *
 * prints: returned 5
 * prints: handler 2
 * prints: handler 1
 * prints: destructor 7
 * prints: exit gave 9
 * prints: handler 3
 * prints: cancelled gave -1
 * prints: not cancelled while disabled
 * prints: cancelled at last gave -1
 * prints: deleted asleep 0, suspended 0, in a loop 0: it stands still
 * prints: magic after join 0, kill 3
 * prints: join of oneself 35, of a detached thread 22, twice 3
 * prints: join waited for the end
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

static pthread_key_t key;
static pthread_t threads[4];
static volatile int counter;

static void handler(void *number) { rtl_printf("handler %ld\n", (long)number); }
static void destructor(void *value) { rtl_printf("destructor %ld\n", (long)value); }

static void *returns(void *value) { return value; }

static void *exits(void *unused)
{
	pthread_setspecific(key, (void *)7);
	pthread_cleanup_push(handler, (void *)1);
	pthread_cleanup_push(handler, (void *)2);
	pthread_exit((void *)9);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return unused;
}

static void *waits(void *unused)
{
	pthread_cleanup_push(handler, (void *)3);
	pthread_wait_np();
	rtl_printf("never\n");
	pthread_cleanup_pop(0);
	return unused;
}

static void *disables(void *unused)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	usleep(2000);
	pthread_testcancel();
	rtl_printf("not cancelled while disabled\n");
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_testcancel();
	rtl_printf("never\n");
	return unused;
}

static void *loops(void *unused) { for (;;) counter++; return unused; }
static void *sleeps(void *unused) { for (;;) usleep(1000000); return unused; }
static void *suspends(void *unused) { for (;;) pthread_suspend_np(pthread_self()); return unused; }
static void *late(void *unused) { usleep(3000); counter = 42; return unused; }
static void *joins_itself(void *unused) { return (void *)(long)pthread_join(pthread_self(), NULL); }

static void *killer(void *unused)
{
	struct sched_param high = { 10 };

	pthread_setschedparam(pthread_self(), 0, &high);
	usleep(2000);
	return (void *)(long)pthread_delete_np(threads[3]);
}

static pthread_t create(void *(*f)(void *), void *arg)
{
	pthread_t t = NULL;
	int error = pthread_create(&t, NULL, f, arg);
	if (error)
		rtl_printf("pthread_create: %d\n", error);
	return t;
}

static void soft(int irq, void *device, struct pt_regs *regs)
{
	void *result;
	pthread_t t = create(returns, (void *)5);
	pthread_attr_t detached;
	int a, b, c;

	pthread_join(t, &result);
	rtl_printf("returned %ld\n", (long)result);
	pthread_join(create(exits, NULL), &result);
	rtl_printf("exit gave %ld\n", (long)result);
	t = create(waits, NULL);
	pthread_cancel(t);
	pthread_join(t, &result);
	rtl_printf("cancelled gave %ld\n", (long)result);
	t = create(disables, NULL);
	pthread_cancel(t);
	pthread_join(t, &result);
	rtl_printf("cancelled at last gave %ld\n", (long)result);
	threads[0] = create(sleeps, NULL);
	threads[1] = create(suspends, NULL);
	threads[2] = create(killer, NULL);
	pthread_create(&threads[3], NULL, loops, NULL);
	a = pthread_delete_np(threads[0]);
	b = pthread_delete_np(threads[1]);
	pthread_join(threads[2], &result);
	c = counter;
	usleep(2000);
	rtl_printf("deleted asleep %d, suspended %d, in a loop %ld: it %s\n", a, b, (long)result,
		c > 100 && c == counter ? "stands still" : "goes on");
	t = create(returns, NULL);
	pthread_join(t, NULL);
	rtl_printf("magic after join %x, kill %d\n", t->magic, pthread_kill(t, 0));
	pthread_join(create(joins_itself, NULL), &result);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_create(&t, &detached, sleeps, NULL);
	c = pthread_join(t, NULL);
	pthread_delete_np(t);
	rtl_printf("join of oneself %ld, of a detached thread %d, twice %d\n", (long)result, c, pthread_join(t, NULL));
	pthread_join(create(late, NULL), NULL);
	rtl_printf("join waited for the %s\n", counter == 42 ? "end" : "beginning");
	pillion_unload();
}

int init_module(void)
{
	int irq = rtl_get_soft_irq(soft, "test");

	pthread_key_create(&key, destructor);
	rtl_global_pend_irq(irq);
	return 0;
}

void cleanup_module(void) { }
