// SPDX-License-Identifier: GPL-2.0-only
/* The C library's objects, between threads in primary mode and in Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

/* Threads of a round: those with a priority are in primary mode. */
static const int urgent[] = { PRIORITY, PRIORITY + 10, PRIORITY - 10 };
static const int mixed[] = { PRIORITY, 0, PRIORITY + 10, 0 };

static struct {
	void (*step)(unsigned int me, unsigned int turn);
	unsigned int turns;
	/* Whether some are in Linux, and how often futexes led there. */
	bool is_mixed;
	unsigned int to_linux;
} current;

static void *steps(void *me)
{
	struct pillion_dual_thread thread;
	unsigned int i;

	to_primary();
	for (i = 0; i < current.turns; i++) {
		current.step((uintptr_t)me, i);
		if (i % 16 == 0)
			to_primary();
	}
	if (is_native || !look(gettid(), &thread))
		return NULL;
	for (i = 0; i < PILLION_DUAL_CALLS; i++)
		if (thread.calls[i].number == SYS_futex)
			__atomic_add_fetch(&current.to_linux, thread.calls[i].count, __ATOMIC_RELAXED);
	return NULL;
}

static void round_of(const int *priorities, unsigned int count, unsigned int turns,
		     void (*step)(unsigned int me, unsigned int turn))
{
	pthread_t threads[8];
	unsigned int i;

	current.step = step;
	current.turns = turns;
	current.is_mixed = priorities == mixed;
	current.to_linux = 0;
	for (i = 0; i < count; i++)
		threads[i] = begin_thread(priorities[i], steps, (void *)(uintptr_t)i);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	check(current.is_mixed || !current.to_linux, "futexes led to Linux %u times", current.to_linux);
}

/* Among threads in primary mode only, and among all kinds. */
#define ROUNDS(turns, step) \
	do { \
		round_of(urgent, COUNT(urgent), turns, step); \
		round_of(mixed, COUNT(mixed), turns, step); \
	} while (0)

static pthread_mutex_t mutex;
static unsigned int inside, count;

static struct timespec in(clockid_t clock, int64_t ns)
{
	return timespec_of(now(clock) + ns);
}

/* The owner waits in between, so that the others come. */
static void counts(unsigned int me, unsigned int turn)
{
	check(!pthread_mutex_lock(&mutex), "lock");
	check(!inside++, "two own it");
	if (turn % 4 == me)
		sleep_for(CLOCK_MONOTONIC, 5 * MICROSECOND, NULL);
	if (current.is_mixed && turn % 64 == 63)
		to_linux();
	count++;
	inside--;
	check(!pthread_mutex_unlock(&mutex), "unlock");
}

static void make_mutex(int type, int protocol)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	check(!pthread_mutex_init(&mutex, &attributes), "pthread_mutex_init");
}

static void *owns_for_a_while(void *nothing)
{
	check(!pthread_mutex_lock(&mutex), "lock");
	sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL);
	check(!pthread_mutex_unlock(&mutex), "unlock");
	return nothing;
}

/* Another thread's mutex, for which this one waits until a time, and then however long it takes. */
static void waits_in_vain(int protocol)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
	pthread_t owner = begin_thread(PRIORITY + 1, owns_for_a_while, NULL);
	unsigned int i;

	sleep_for(CLOCK_MONOTONIC, MILLISECOND, NULL);
	check(pthread_mutex_trylock(&mutex) == EBUSY, "trylock, protocol %d", protocol);
	for (i = 0; i < COUNT(clocks); i++) {
		struct timespec end = in(clocks[i], 2 * MILLISECOND);

		check(pthread_mutex_clocklock(&mutex, clocks[i], &end) == ETIMEDOUT, "clocklock");
		check(now(clocks[i]) >= ns_of(end), "its time was too short");
	}
	check(is_native || is_primary(), "waiting led to Linux");
	check(pthread_mutex_unlock(&mutex), "unlock of another's mutex, protocol %d", protocol);
	check(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex), "lock in the end");
	pthread_join(owner, NULL);
}

void posix_mutexes(void)
{
	static const int types[] = { PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_NORMAL };
	static const int protocols[] = { PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT };
	unsigned int i, j;

	enter();
	for (i = 0; i < COUNT(protocols); i++)
		for (j = 0; j < COUNT(types); j++) {
			make_mutex(types[j], protocols[i]);
			check(!pthread_mutex_lock(&mutex), "lock");
			if (types[j] == PTHREAD_MUTEX_RECURSIVE)
				check(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex), "lock again");
			else if (types[j] == PTHREAD_MUTEX_ERRORCHECK)
				check(pthread_mutex_lock(&mutex) == EDEADLK, "lock again");
			check(!pthread_mutex_unlock(&mutex), "unlock");
			if (types[j] != PTHREAD_MUTEX_NORMAL) {
				check(pthread_mutex_unlock(&mutex) == EPERM, "unlock of a free mutex");
				waits_in_vain(protocols[i]);
			}
			count = 0;
			ROUNDS(300, counts);
			check(count == 300 * (COUNT(urgent) + COUNT(mixed)), "%u of all turns", count);
		}
}

/* A queue of four places. */
static pthread_cond_t not_full, not_empty;
static unsigned int queue[4], first, used, sum;

static void passes_on(unsigned int me, unsigned int turn)
{
	struct timespec end;
	int error = 0;

	check(!pthread_mutex_lock(&mutex), "lock");
	if ((me + turn) % 2) {
		while (used == COUNT(queue))
			check(!pthread_cond_wait(&not_full, &mutex), "wait");
		queue[(first + used++) % COUNT(queue)] = turn;
		pthread_cond_signal(&not_empty);
	} else {
		while (!used && !error) {
			end = in(CLOCK_MONOTONIC, 200 * MICROSECOND);
			error = pthread_cond_clockwait(&not_empty, &mutex, CLOCK_MONOTONIC, &end);
			check(!error || error == ETIMEDOUT, "clockwait: %d", error);
		}
		if (used) {
			sum += queue[first] + 1;
			first = (first + 1) % COUNT(queue);
			used--;
			pthread_cond_broadcast(&not_full);
		}
	}
	check(!pthread_mutex_unlock(&mutex), "unlock");
}

/* What threads put in comes out. */
static void check_queue(unsigned int put)
{
	while (used) {
		sum += queue[first] + 1;
		first = (first + 1) % COUNT(queue);
		used--;
	}
	check(sum == put, "the sum is %u, not %u", sum, put);
	sum = 0;
}

/* The sum of what `threads` threads put in, in turns from 0. */
static unsigned int all_put(unsigned int threads, unsigned int turns)
{
	unsigned int me, turn, all = 0;

	for (me = 0; me < threads; me++)
		for (turn = 0; turn < turns; turn++)
			all += (me + turn) % 2 ? turn + 1 : 0;
	return all;
}

void posix_conditions(void)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
	struct timespec end;
	unsigned int i;

	enter();
	for (i = 0; i < 2; i++) {
		make_mutex(PTHREAD_MUTEX_ERRORCHECK, i ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
		pthread_cond_init(&not_full, NULL);
		pthread_cond_init(&not_empty, NULL);
		to_primary();
		check(!pthread_mutex_lock(&mutex), "lock");
		end = in(clocks[i], 2 * MILLISECOND);
		check(pthread_cond_clockwait(&not_empty, &mutex, clocks[i], &end) == ETIMEDOUT, "clockwait");
		check(now(clocks[i]) >= ns_of(end), "its time was too short");
		check(is_native || is_primary(), "waiting led to Linux");
		check(!pthread_mutex_unlock(&mutex), "it has the mutex");
		round_of(urgent, COUNT(urgent), 300, passes_on);
		check_queue(all_put(COUNT(urgent), 300));
		round_of(mixed, COUNT(mixed), 300, passes_on);
		check_queue(all_put(COUNT(mixed), 300));
	}
}

static sem_t semaphores_of[4];
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock;
static unsigned int readers, writers, waiting;

/* Each gives to the next one, and takes its own. */
static void goes_round(unsigned int me, unsigned int turn)
{
	struct timespec end = in(CLOCK_MONOTONIC, 10 * SECOND);
	unsigned int threads = current.is_mixed ? COUNT(mixed) : COUNT(urgent);

	check(!sem_post(&semaphores_of[(me + 1) % threads]), "sem_post");
	if (turn % 2)
		check(!sem_wait(&semaphores_of[me]), "sem_wait: %s", strerror(errno));
	else
		check(!sem_clockwait(&semaphores_of[me], CLOCK_MONOTONIC, &end), "sem_clockwait: %s", strerror(errno));
}

/* All threads of a turn are here before any goes on. */
static void meets(unsigned int me, unsigned int turn)
{
	unsigned int threads = current.is_mixed ? COUNT(mixed) : COUNT(urgent);
	int result;

	__atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
	result = pthread_barrier_wait(&barrier);
	check(!result || result == PTHREAD_BARRIER_SERIAL_THREAD, "pthread_barrier_wait: %d", result);
	check(__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) >= threads * (turn + 1), "thread %u went ahead", me);
}

static void reads_or_writes(unsigned int me, unsigned int turn)
{
	bool writes = (me + turn) % 3 == 0;

	check(!(writes ? pthread_rwlock_wrlock(&rwlock) : pthread_rwlock_rdlock(&rwlock)), "lock");
	if (writes)
		check(!writers++ && !readers, "a writer is not alone");
	else
		check(!writers && __atomic_add_fetch(&readers, 1, __ATOMIC_RELAXED), "a reader beside a writer");
	if (turn % 8 == 0)
		sleep_for(CLOCK_MONOTONIC, 5 * MICROSECOND, NULL);
	if (writes)
		writers--;
	else
		__atomic_sub_fetch(&readers, 1, __ATOMIC_RELAXED);
	check(!pthread_rwlock_unlock(&rwlock), "unlock");
}

static pthread_once_t onces[100];

static void only_once(void)
{
	sleep_for(CLOCK_MONOTONIC, 20 * MICROSECOND, NULL);
	count++;
}

static void does_once(unsigned int me, unsigned int turn)
{
	(void)me;
	check(!pthread_once(&onces[turn], only_once), "pthread_once");
	check(count > turn, "it was not done");
}

void posix_others(void)
{
	static const int *const kinds[] = { urgent, mixed };
	static const unsigned int counts_of[] = { COUNT(urgent), COUNT(mixed) };
	unsigned int i, j;

	enter();
	pthread_rwlock_init(&rwlock, NULL);
	for (i = 0; i < COUNT(kinds); i++) {
		for (j = 0; j < COUNT(semaphores_of); j++)
			check(!sem_init(&semaphores_of[j], 0, 0), "sem_init");
		round_of(kinds[i], counts_of[i], 300, goes_round);
		waiting = 0;
		pthread_barrier_init(&barrier, NULL, counts_of[i]);
		round_of(kinds[i], counts_of[i], 300, meets);
		round_of(kinds[i], counts_of[i], 300, reads_or_writes);
		count = 0;
		for (j = 0; j < COUNT(onces); j++)
			onces[j] = (pthread_once_t)PTHREAD_ONCE_INIT;
		round_of(kinds[i], counts_of[i], COUNT(onces), does_once);
		check(count == COUNT(onces), "%u things were done once", count);
	}
}

/* When all begin, how long each computes, and whether they do it in Linux. */
static int64_t begin_ns, scale;
static bool in_linux;

/* Computes so many parts of the scale, beginning after some others. */
static void compute(int64_t after, int64_t parts)
{
	int64_t end;

	sleep_until(CLOCK_MONOTONIC, begin_ns + after * scale);
	if (in_linux)
		to_linux();
	end = now(CLOCK_MONOTONIC) + parts * scale;
	while (now(CLOCK_MONOTONIC) < end)
		;
}

static void *is_low(void *goes_on)
{
	check(!pthread_mutex_lock(&mutex), "lock");
	compute(0, 4);
	check(!pthread_mutex_unlock(&mutex), "unlock");
	*(int64_t *)goes_on = now(CLOCK_MONOTONIC) - begin_ns;
	return NULL;
}

static void *is_between(void *nothing)
{
	compute(1, 17);
	return nothing;
}

static void *is_high(void *late)
{
	sleep_until(CLOCK_MONOTONIC, begin_ns + 2 * scale);
	check(!pthread_mutex_lock(&mutex), "lock");
	*(int64_t *)late = now(CLOCK_MONOTONIC) - begin_ns;
	check(!pthread_mutex_unlock(&mutex), "unlock");
	return NULL;
}

/*
 * How late an urgent thread gets a mutex that a less urgent one has, while one between computes.
 * The less urgent one, which has given up what it inherited, goes on after that.
 */
static int64_t lateness(int protocol)
{
	int64_t late = 0, goes_on = 0;
	pthread_t threads[3];
	unsigned int i;

	make_mutex(PTHREAD_MUTEX_NORMAL, protocol);
	begin_ns = now(CLOCK_MONOTONIC) + 20 * MILLISECOND;
	threads[0] = begin_thread(10, is_low, &goes_on);
	threads[1] = begin_thread(20, is_between, NULL);
	threads[2] = begin_thread(30, is_high, &late);
	for (i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	check(goes_on > 16 * scale, "an owner keeps what it inherited, after %lld ns", (long long)goes_on);
	return late;
}

/* The owner of a mutex inherits in primary mode, and in Linux. */
void posix_inherits(void)
{
	unsigned int i, j;

	enter();
	for (i = 0; i < 2; i++) {
		int64_t inherits = INT64_MAX, lends_nothing = INT64_MAX;

		in_linux = i;
		scale = (i || is_native ? 40 : 5) * MICROSECOND;
		for (j = 0; j < 5; j++) {
			int64_t with = lateness(PTHREAD_PRIO_INHERIT), without = lateness(PTHREAD_PRIO_NONE);

			inherits = with < inherits ? with : inherits;
			lends_nothing = without < lends_nothing ? without : lends_nothing;
		}
		tell("a mutex after %lld ns with inheritance, %lld ns without, %s", (long long)inherits,
		     (long long)lends_nothing, i ? "in Linux" : "in primary mode");
		check(inherits < 12 * scale, "inheritance does not help");
		check(lends_nothing > 16 * scale, "there was nothing to help with");
	}
}
