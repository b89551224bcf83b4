/*
 * What a thread was handed and has not used when it ends goes to the next one, and a call that
 * succeeded is not a cancellation point.
 *
 * prints: mutex: the next has it
 * prints: mutex, nobody next: destroyed 0
 * prints: semaphore: the next has it, value 0
 * prints: semaphore, nobody next: value 1
 * prints: semaphore, killed at its return: value 1
 * prints: read-write, a woken writer ended: the reader has it
 * prints: read-write, a waiting writer ended: the reader has it
 * prints: barrier: 1 came and 1 ended: waits, then passes
 * prints: once: 2 runs, the next has it
 * prints: once within once: 2 outer runs, 2 inner runs
 * prints: sem_wait gave 0 to a cancelled thread, value 0
 * prints: mq_receive gave 3 to a cancelled thread, 0 messages left
 * prints: mq_send gave 0 to a cancelled thread, 2 messages left
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <semaphore.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pillion.h>

#include "own-stacks.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT, outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t sem;
static mqd_t queue;
static pthread_t victim, next;
static volatile int has, runs, outer_runs, inner_runs, result;

static void both(void *(*first)(void *), void *(*second)(void *))
{
	has = 0;
	victim = start(20, first);
	usleep(1000);
	next = start(10, second);
	usleep(1000);
}

static const char *outcome(void)
{
	usleep(1000);
	if (!has)
		pthread_delete_np(next);
	else
		pthread_join(next, NULL);
	return has ? "has it" : "waits for ever";
}

static void *locks(void *x) { pthread_mutex_lock(&mutex); has = 1; pthread_mutex_unlock(&mutex); return x; }
static void *waits(void *x) { result = sem_wait(&sem); has = 1; pthread_testcancel(); return x; }
static void *writes(void *x) { pthread_rwlock_wrlock(&rw); has = 1; pthread_rwlock_unlock(&rw); return x; }
static void *reads(void *x) { pthread_rwlock_rdlock(&rw); has = 1; pthread_rwlock_unlock(&rw); return x; }
static void *meets(void *x) { pthread_barrier_wait(&barrier); has++; return x; }
static void routine(void) { if (runs++ == 0) usleep(100000); }
static void *does(void *x) { pthread_once(&once, routine); has = 1; return x; }
static void within(void) { if (inner_runs++ == 0) usleep(100000); }
static void without(void) { outer_runs++; pthread_once(&inner, within); }
static void *nests(void *x) { pthread_once(&outer, without); has = 1; return x; }

static void mutexes(void)
{
	pthread_mutex_lock(&mutex);
	both(locks, locks);
	pthread_mutex_unlock(&mutex);
	pthread_delete_np(victim);
	rtl_printf("mutex: the next %s\n", outcome());
	pthread_mutex_lock(&mutex);
	victim = start(20, locks);
	usleep(1000);
	pthread_mutex_unlock(&mutex);
	pthread_delete_np(victim);
	rtl_printf("mutex, nobody next: destroyed %d\n", pthread_mutex_destroy(&mutex));
}

static int value(void)
{
	int n;

	sem_getvalue(&sem, &n);
	return n;
}

static void semaphores(void)
{
	const char *how;

	sem_init(&sem, 0, 0);
	both(waits, waits);
	sem_post(&sem);
	pthread_delete_np(victim);
	how = outcome();
	rtl_printf("semaphore: the next %s, value %d\n", how, value());
	victim = start(20, waits);
	usleep(1000);
	sem_post(&sem);
	pthread_delete_np(victim);
	rtl_printf("semaphore, nobody next: value %d\n", value());
	sem_init(&sem, 0, 0);
	victim = start(20, waits);
	usleep(1000);
	/* It is asked to stop while it waits, and finds that out as the wait ends. */
	pthread_suspend_np(victim);
	sem_post(&sem);
	usleep(1000);
	pthread_delete_np(victim);
	rtl_printf("semaphore, killed at its return: value %d\n", value());
}

static void read_write(void)
{
	pthread_rwlock_wrlock(&rw);
	both(writes, reads);
	pthread_rwlock_unlock(&rw);
	pthread_delete_np(victim);
	rtl_printf("read-write, a woken writer ended: the reader %s\n", outcome());
	pthread_rwlock_rdlock(&rw);
	both(writes, reads);
	pthread_delete_np(victim);
	rtl_printf("read-write, a waiting writer ended: the reader %s\n", outcome());
	pthread_rwlock_unlock(&rw);
}

static void barriers(void)
{
	int before;

	pthread_barrier_init(&barrier, NULL, 2);
	has = 0;
	victim = start(20, meets);
	usleep(1000);
	pthread_delete_np(victim);
	next = start(10, meets);
	usleep(1000);
	before = has;
	victim = start(20, meets);
	usleep(1000);
	rtl_printf("barrier: 1 came and 1 ended: %s, then %s\n", before ? "passes" : "waits", has == 2 ? "passes" : "waits");
	pthread_join(victim, NULL);
	pthread_join(next, NULL);
}

static void onces(void)
{
	const char *how;

	both(does, does);
	pthread_delete_np(victim);
	how = outcome();
	rtl_printf("once: %d runs, the next %s\n", runs, how);
	both(nests, nests);
	pthread_delete_np(victim);
	outcome();
	rtl_printf("once within once: %d outer runs, %d inner runs\n", outer_runs, inner_runs);
}

static void *receives(void *x)
{
	char text[64];

	result = mq_receive(queue, text, sizeof(text), NULL);
	pthread_testcancel();
	return x;
}

static void *sends(void *x)
{
	result = mq_send(queue, "more", 4, 0);
	pthread_testcancel();
	return x;
}

static int left(void)
{
	struct mq_attr attr;

	mq_getattr(queue, &attr);
	return attr.mq_curmsgs;
}

static void cancelled(void)
{
	struct mq_attr attr = { .mq_maxmsg = 2, .mq_msgsize = 64 };
	char text[64];

	sem_init(&sem, 0, 0);
	result = -1;
	victim = start(20, waits);
	usleep(1000);
	sem_post(&sem);
	pthread_cancel(victim);
	pthread_join(victim, NULL);
	rtl_printf("sem_wait gave %d to a cancelled thread, value %d\n", result, value());
	queue = mq_open("/handed", O_RDWR | O_CREAT, 0600, &attr);
	result = -1;
	victim = start(20, receives);
	usleep(1000);
	mq_send(queue, "abc", 3, 0);
	pthread_cancel(victim);
	pthread_join(victim, NULL);
	rtl_printf("mq_receive gave %d to a cancelled thread, %d messages left\n", result, left());
	mq_send(queue, "a", 1, 0);
	mq_send(queue, "b", 1, 0);
	result = -1;
	victim = start(20, sends);
	usleep(1000);
	mq_receive(queue, text, sizeof(text), NULL);
	pthread_cancel(victim);
	pthread_join(victim, NULL);
	rtl_printf("mq_send gave %d to a cancelled thread, %d messages left\n", result, left());
	mq_close(queue);
	mq_unlink("/handed");
}

static void *all(void *unused)
{
	mutexes();
	semaphores();
	read_write();
	barriers();
	onces();
	cancelled();
	pillion_unload();
	return unused;
}

/* The test's thread is the most urgent: a woken thread does not run before it is ended. */
int init_module(void)
{
	start(50, all);
	return 0;
}

void cleanup_module(void) { }
