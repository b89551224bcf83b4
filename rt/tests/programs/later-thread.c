/*
 * A thread that takes the place of an ended one gets nothing that was meant for the ended one.
 *
 * prints: timer: in the same place 1, slept to the end 0, signals 0
 * prints: mq_notify: in the same place 1, slept to the end 0, signals 0
 * prints: mq_notify: another can ask 0
 * prints: recursive mutex of the dead: in the same place 1, taken 16, released 1
 * prints: inheriting mutex of the dead: in the same place 1, taken 16, raised 0
 * prints: two joined: the first 0, the second 3
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <time.h>
#include <pillion.h>

#include "own-stacks.h"

static pthread_t first, second;
static pthread_mutex_t mutex;
static volatile int runs, slept, taken, released, results[2], order[2], at;
static mqd_t queue;

/* Runs `f` in a thread that ends, then `g` in one that takes its place. */
static int after(void *(*f)(void *), void *(*g)(void *))
{
	first = start(60, f);
	pthread_join(first, NULL);
	second = start(60, g);
	return first == second;
}

static void counts(int signal) { runs++; }

static void *makes_timer(void *x)
{
	struct itimerspec spec = { .it_interval = { 0, 1000000 }, .it_value = { 0, 1000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = RTL_SIGUSR1 };
	timer_t timer;

	timer_create(CLOCK_REALTIME, &event, &timer);
	timer_settime(timer, 0, &spec, NULL);
	return x;
}

static void *asks(void *x)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = RTL_SIGUSR1 };

	slept = mq_notify(queue, &event);
	return x;
}

static void *sleeps(void *x) { runs = 0; slept = usleep(5000); return x; }

static void *locks(void *x) { pthread_mutex_lock(&mutex); return x; }

static void *tries(void *x)
{
	taken = pthread_mutex_trylock(&mutex);
	released = pthread_mutex_unlock(&mutex);
	return x;
}

static void make(int type, int protocol)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutex_init(&mutex, &attr);
}

/*
 * Of two threads that became ready while a more urgent one ran, records which is first: 0 and 1 in
 * `order`.
 */
static void *comes(void *n) { taken = pthread_mutex_trylock(&mutex); usleep(1000); order[at++] = (long)n; return n; }
static void *waits(void *x) { pthread_mutex_lock(&mutex); return x; }

static void inherits(void)
{
	pthread_t waiter, other;

	make(0, PTHREAD_PRIO_INHERIT);
	first = start(60, locks);
	pthread_join(first, NULL);
	second = start_with(10, comes, (void *)1);
	waiter = start(40, waits);
	other = start_with(20, comes, (void *)0);
	usleep(500);
	/* Now all wait. When their sleep is over, this thread computes until both are ready. */
	rtl_delay(2000000);
	usleep(1000);
	rtl_printf("inheriting mutex of the dead: in the same place %d, taken %d, raised %d\n", first == second, taken, order[0]);
	pthread_delete_np(waiter);
	pthread_join(second, NULL);
	pthread_join(other, NULL);
}

static void *ends_later(void *x) { usleep(1000); return x; }

static void *joins_first(void *x)
{
	results[0] = pthread_join(first, NULL);
	second = start(5, sleeps);
	if (second != first)
		rtl_printf("not in the same place\n");
	return x;
}

static void *joins_second(void *x) { results[1] = pthread_join(first, NULL); return x; }

static void joins(void)
{
	pthread_t a, b;

	results[1] = -1;
	first = start(60, ends_later);
	a = start(55, joins_first);
	b = start(20, joins_second);
	usleep(3000);
	rtl_printf("two joined: the first %d, the second %d\n", results[0], results[1]);
	pthread_delete_np(b);
	pthread_join(a, NULL);
	pthread_join(second, NULL);
}

static void *all(void *unused)
{
	struct sigaction action = { 0 };
	struct mq_attr attr = { .mq_maxmsg = 2, .mq_msgsize = 64 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = RTL_SIGUSR1 };
	int same;

	action.sa_handler = counts;
	sigaction(RTL_SIGUSR1, &action, NULL);
	same = after(makes_timer, sleeps);
	pthread_join(second, NULL);
	rtl_printf("timer: in the same place %d, slept to the end %d, signals %d\n", same, slept, runs);

	queue = mq_open("/later", O_RDWR | O_CREAT, 0600, &attr);
	same = after(asks, sleeps);
	usleep(1000);
	mq_send(queue, "a", 1, 0);
	pthread_join(second, NULL);
	rtl_printf("mq_notify: in the same place %d, slept to the end %d, signals %d\n", same, slept, runs);
	after(asks, sleeps);
	rtl_printf("mq_notify: another can ask %d\n", mq_notify(queue, &event));
	pthread_join(second, NULL);
	mq_close(queue);
	mq_unlink("/later");

	make(PTHREAD_MUTEX_RECURSIVE, 0);
	same = after(locks, tries);
	pthread_join(second, NULL);
	rtl_printf("recursive mutex of the dead: in the same place %d, taken %d, released %d\n", same, taken, released);
	inherits();
	joins();
	pillion_unload();
	return unused;
}

int init_module(void)
{
	start(50, all);
	return 0;
}

void cleanup_module(void) { }
