/*
 * Mutexes, condition variables, semaphores, barriers, read-write locks, spin locks: what they
 * return and which threads they wake.
 *
 * prints: mutex: again 16, timed 110, unlocked 0, destroyed 22
 * prints: recursive 0 0 0 0 1, error-checking 35 1
 * prints: spin 16 0, mutex that spins 0 0
 * prints: ceiling: above 22, inside 0, not a ceiling 22
 * prints: robust: 130, then 131
 * prints: robust: 130 0 0, then 0
 * prints: semaphore: 11 110 0, value 2
 * prints: semaphore: the most urgent first: 3 2 1
 * prints: condition: 110, woken 3 2 1
 * prints: barrier: 1 of 3 serial
 * prints: read-write: 0 0 16 0, writer waits 110
 * prints: once 1
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <semaphore.h>
#include <pillion.h>

#include "start.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t sem;
static volatile int order[4], at, serial, times;
static pthread_t threads[3];

static const struct timespec *in(long ns) { return hrt2ts(gethrtime() + ns); }

static void *run(void *(*f)(void *), void *arg, int priority)
{
	void *result;

	start(&threads[0], priority, f, arg);
	pthread_join(threads[0], &result);
	return result;
}

static void *plain(void *x)
{
	int again, timed, unlocked;

	pthread_mutex_lock(&mutex);
	again = pthread_mutex_trylock(&mutex);
	timed = pthread_mutex_timedlock(&mutex, in(100000));
	unlocked = pthread_mutex_unlock(&mutex);
	pthread_mutex_destroy(&mutex);
	rtl_printf("mutex: again %d, timed %d, unlocked %d, destroyed %d\n", again, timed, unlocked, pthread_mutex_lock(&mutex));
	return x;
}

static void make(pthread_mutex_t *m, int type, int protocol, int robust, int ceiling)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setrobust(&attr, robust);
	pthread_mutexattr_setprioceiling(&attr, ceiling);
	pthread_mutex_init(m, &attr);
}

static void *types(void *x)
{
	pthread_mutex_t r, e, s;
	pthread_spinlock_t spin;
	int a, b, c, d, f, g;

	make(&r, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0);
	a = pthread_mutex_lock(&r), b = pthread_mutex_lock(&r), c = pthread_mutex_unlock(&r), d = pthread_mutex_unlock(&r);
	f = pthread_mutex_unlock(&r);
	make(&e, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0);
	pthread_mutex_lock(&e);
	g = pthread_mutex_lock(&e);
	pthread_mutex_unlock(&e);
	rtl_printf("recursive %d %d %d %d %d, error-checking %d %d\n", a, b, c, d, f, g, pthread_mutex_unlock(&e));
	pthread_spin_init(&spin, 0);
	pthread_spin_lock(&spin);
	a = pthread_spin_trylock(&spin);
	b = pthread_spin_unlock(&spin);
	make(&s, PTHREAD_MUTEX_SPINLOCK_NP, 0, 0, 0);
	c = pthread_mutex_lock(&s);
	d = pthread_mutex_unlock(&s);
	rtl_printf("spin %d %d, mutex that spins %d %d\n", a, b, c, d);
	return x;
}

static void *ceiling(void *x)
{
	pthread_mutex_t p, n;
	struct sched_param high = { 60 };
	int inside, none;

	make(&p, 0, PTHREAD_PRIO_PROTECT, 0, 50);
	make(&n, 0, 0, 0, 0);
	inside = pthread_mutex_lock(&p);
	pthread_mutex_unlock(&p);
	none = pthread_mutex_setprioceiling(&n, 1, NULL);
	pthread_setschedparam(pthread_self(), 0, &high);
	rtl_printf("ceiling: above %d, inside %d, not a ceiling %d\n", pthread_mutex_lock(&p), inside, none);
	return x;
}

static void *dies(void *m) { pthread_mutex_lock(m); return m; }

static void *heir(void *m)
{
	int a = pthread_mutex_lock(m);

	pthread_mutex_unlock(m);
	rtl_printf("robust: %d, then %d\n", a, pthread_mutex_lock(m));
	return m;
}

static void *good_heir(void *m)
{
	int a = pthread_mutex_lock(m), b = pthread_mutex_consistent(m), c = pthread_mutex_unlock(m);

	rtl_printf("robust: %d %d %d, then %d\n", a, b, c, pthread_mutex_lock(m));
	return m;
}

static void *waits_sem(void *n) { sem_wait(&sem); order[at++] = (long)n; return n; }

static void *waits_cond(void *n)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&cond, &mutex);
	order[at++] = (long)n;
	pthread_mutex_unlock(&mutex);
	return n;
}

static void all(void *(*f)(void *))
{
	long i;

	at = 0;
	for (i = 0; i < 3; i++)
		start(&threads[i], 10 * (i + 1), f, (void *)(i + 1));
}

static void joined(void)
{
	int i;

	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void *semaphores(void *x)
{
	int try, timed, value;

	sem_init(&sem, 0, 0);
	sem_trywait(&sem);
	try = errno;
	sem_timedwait(&sem, in(100000));
	timed = errno;
	sem_post(&sem), sem_post(&sem), sem_post(&sem);
	value = sem_wait(&sem);
	rtl_printf("semaphore: %d %d %d", try, timed, value);
	sem_getvalue(&sem, &value);
	rtl_printf(", value %d\n", value);
	sem_wait(&sem), sem_wait(&sem);
	return x;
}

static void *timed_cond(void *x)
{
	int error;

	pthread_mutex_lock(&mutex);
	error = pthread_cond_timedwait(&cond, &mutex, in(100000));
	pthread_mutex_unlock(&mutex);
	return (void *)(long)error;
}

static void *meets(void *x)
{
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		serial++;
	return x;
}

static void *locks(void *x)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	int a = pthread_rwlock_rdlock(&lock), b = pthread_rwlock_tryrdlock(&lock), c = pthread_rwlock_trywrlock(&lock);
	int d = pthread_rwlock_unlock(&lock);

	rtl_printf("read-write: %d %d %d %d, writer waits %d\n", a, b, c, d, pthread_rwlock_timedwrlock(&lock, in(100000)));
	return x;
}

static void count(void) { times++; }

static void soft(int irq, void *device, struct pt_regs *regs)
{
	pthread_mutex_t robust;
	long timed;

	run(plain, NULL, 5);
	run(types, NULL, 5);
	run(ceiling, NULL, 5);
	make(&robust, 0, 0, PTHREAD_MUTEX_ROBUST, 0);
	run(dies, &robust, 5);
	run(heir, &robust, 5);
	make(&robust, 0, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST, 0);
	run(dies, &robust, 5);
	run(good_heir, &robust, 5);
	run(semaphores, NULL, 5);
	all(waits_sem);
	sem_post(&sem), sem_post(&sem), sem_post(&sem);
	joined();
	rtl_printf("semaphore: the most urgent first: %d %d %d\n", order[0], order[1], order[2]);
	make(&mutex, 0, 0, 0, 0);
	timed = (long)run(timed_cond, NULL, 5);
	all(waits_cond);
	pthread_cond_signal(&cond);
	joined();
	rtl_printf("condition: %ld, woken %d %d %d\n", timed, order[0], order[1], order[2]);
	pthread_barrier_init(&barrier, NULL, 3);
	all(meets);
	joined();
	rtl_printf("barrier: %d of 3 serial\n", serial);
	run(locks, NULL, 5);
	pthread_once(&once, count);
	pthread_once(&once, count);
	rtl_printf("once %d\n", times);
	pillion_unload();
}

int init_module(void)
{
	rtl_global_pend_irq(rtl_get_soft_irq(soft, "test"));
	return 0;
}

void cleanup_module(void) { }
