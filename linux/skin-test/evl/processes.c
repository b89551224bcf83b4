// SPDX-License-Identifier: GPL-2.0-only
/*
 * Public elements that processes of programs for EVL share. The program executes itself again as
 * the other process.
 */
#include <evl/evl.h>
#include <sys/wait.h>

#include "../check.h"

#define TURNS 100

static struct evl_sem there, back;
static struct evl_mutex mutex;
static struct evl_event event;
static struct evl_flags flags;

static bool is_primary(void)
{
	return !evl_is_inband();
}

/* So that a test that fails ends. */
static struct timespec much_later(void)
{
	return soon(CLOCK_MONOTONIC, 20 * SECOND);
}

static void get(struct evl_sem *sem)
{
	struct timespec end = much_later();

	check(!evl_timedget_sem(sem, &end));
}

static void lock(void)
{
	struct timespec end = much_later();

	check(!evl_timedlock_mutex(&mutex, &end));
}

static void *answers(void *nothing)
{
	struct timespec end;
	struct evl_sem again;
	int i, told;

	check(evl_attach_self("answers:%d", getpid()) >= 0);
	check(evl_open_sem(&there, "/evl-there") >= 0 && evl_open_sem(&back, "evl-back") >= 0);
	check(evl_open_mutex(&mutex, "/evl-mutex") >= 0 && evl_open_event(&event, "/evl-event") >= 0);
	check(evl_open_flags(&flags, "/evl-%s", "flags") >= 0);
	check(evl_open_sem(&again, "/evl-private") == -ENOENT && evl_new_sem(&again, "/evl-back") == -EEXIST);
	for (i = 0; i < TURNS; i++) {
		get(&there);
		check(!evl_put_sem(&back));
	}
	check(is_primary());
	/* The first process has the mutex, and waits for the event with it. */
	get(&there);
	lock();
	check(!evl_signal_event(&event) && evl_trylock_mutex(&mutex) != 0 && !evl_unlock_mutex(&mutex));
	check(evl_unlock_mutex(&mutex) == -EPERM);
	/* Flags come one by one to who wants all of them, and are gone with who has got them. */
	get(&there);
	check(!evl_post_flags(&flags, 0x2) && !evl_post_flags(&flags, 0x4) && !evl_post_flags(&flags, 0x8));
	end = much_later();
	check(!evl_timedwait_some_flags(&flags, 0x30, &end, &told) && told == 0x10);
	check(!evl_peek_flags(&flags, &told) && told == 0x8 && is_primary());
	/* A flag is for one of two threads that wait for it. */
	for (i = 0; i < 2; i++) {
		get(&there);
		check(!evl_post_flags(&flags, 0x100));
	}
	/* The first process polls. */
	get(&there);
	check(!evl_put_sem(&back));
	get(&there);
	lock();
	/* It ends with the mutex, which the first one gets. */
	check(!evl_put_sem(&back));
	_exit(0);
	return nothing;
}

static unsigned int takers;
static struct evl_sem taken;

static void *takes(void *number)
{
	struct timespec end = much_later();
	int told;

	check(evl_attach_self("taker:%d", *(int *)number) >= 0);
	check(!evl_timedwait_some_flags(&flags, 0x300, &end, &told) && told == 0x100);
	__atomic_add_fetch(&takers, 1, __ATOMIC_SEQ_CST);
	check(!evl_put_sem(&taken));
	return NULL;
}

static void make(void)
{
	struct evl_sem again, none;

	check(evl_new_sem(&there, "/evl-there") >= 0 && evl_create_sem(&back, EVL_CLOCK_MONOTONIC, 0, EVL_CLONE_PUBLIC, "evl-back") >= 0);
	check(evl_new_mutex(&mutex, "/evl-mutex") >= 0 && evl_new_event(&event, "/evl-event") >= 0);
	check(evl_create_flags(&flags, EVL_CLOCK_MONOTONIC, 0x1, EVL_CLONE_PUBLIC, "/evl-flags") >= 0);
	check(evl_new_sem(&again, "/evl-there") == -EEXIST && evl_open_sem(&none, "/evl-none") == -ENOENT);
	/* It leads to the same object. */
	check(evl_open_sem(&again, "/evl-there") >= 0 && !evl_put_sem(&again) && !evl_tryget_sem(&there));
	check(evl_tryget_sem(&again) == -EAGAIN && !evl_close_sem(&again) && evl_new_sem(&taken, "evl-private") >= 0);
}

/* What one process sees of its own public elements, also in Linux alone. */
static void uses_alone(void)
{
	struct timespec end = soon(CLOCK_MONOTONIC, MS);
	int told;

	check(evl_timedget_sem(&there, &end) == -ETIMEDOUT);
	check(!evl_put_sem(&there) && !evl_put_sem(&there) && !evl_peek_sem(&there, &told) && told == 2);
	check(!evl_flush_sem(&there) && evl_tryget_sem(&there) == -EAGAIN);
	check(!evl_trywait_flags(&flags, &told) && told == 1 && evl_trywait_flags(&flags, &told) == -EAGAIN);
	check(!evl_post_flags(&flags, 0x3) && evl_trywait_exact_flags(&flags, 0x6) == -EAGAIN);
	check(!evl_peek_flags(&flags, &told) && told == 0x3 && !evl_trywait_exact_flags(&flags, 0x3));
	end = soon(CLOCK_MONOTONIC, MS);
	check(!evl_lock_mutex(&mutex) && evl_timedwait_event(&event, &mutex, &end) == -ETIMEDOUT);
	check(!evl_unlock_mutex(&mutex) && evl_unlock_mutex(&mutex) == -EPERM);
}

static int efds[2];
static unsigned int woken;

static void *follows(void *number)
{
	struct timespec end = much_later();
	int own = *(int *)number, told;

	efds[own] = evl_attach_self("follower:%d", own);
	check(efds[own] >= 0);
	check(!evl_timedwait_some_flags(&flags, 0x400, &end, &told) && told == 0x400);
	lock();
	check(!evl_put_sem(&taken));
	end = much_later();
	check(!evl_timedwait_event(&event, &mutex, &end));
	woken |= 1 << own;
	check(!evl_unlock_mutex(&mutex));
	return NULL;
}

/* A flag for all that wait, and an event for one of them; also in Linux alone. */
static void tells_threads(void)
{
	static int numbers[] = { 0, 1 };
	pthread_t threads[2];
	int i, told;

	for (i = 0; i < 2; i++)
		threads[i] = start(60 + i, follows, &numbers[i]);
	/* They wait by then. */
	rest(20 * MS);
	check(!evl_broadcast_flags(&flags, 0xc00) && !evl_peek_flags(&flags, &told) && told == 0x800);
	check(!evl_trywait_exact_flags(&flags, 0x800));
	get(&taken);
	get(&taken);
	/* Who had the mutex waits for the event. The less urgent one is named first. */
	for (i = 0; i < 2; i++) {
		lock();
		check(woken == (i ? 1U : 0U) && !evl_signal_thread(&event, efds[i]) && !evl_unlock_mutex(&mutex));
		pthread_join(threads[i], NULL);
		check(woken == (i ? 3U : 1U));
	}
}

static void shares(void)
{
	static int numbers[] = { 0, 1 };
	struct timespec end;
	pthread_t threads[2];
	int i, told;

	for (i = 0; i < TURNS; i++) {
		check(!evl_put_sem(&there));
		get(&back);
	}
	check(is_primary());
	lock();
	end = much_later();
	check(!evl_put_sem(&there) && !evl_timedwait_event(&event, &mutex, &end) && is_primary());
	check(!evl_unlock_mutex(&mutex));
	end = much_later();
	check(!evl_put_sem(&there) && !evl_timedwait_exact_flags(&flags, 0x6, &end) && !evl_post_flags(&flags, 0x10));
	check(is_primary());
	for (i = 0; i < 2; i++)
		threads[i] = start(60 + i, takes, &numbers[i]);
	for (i = 1; i <= 2; i++) {
		check(!evl_put_sem(&there));
		get(&taken);
		rest(5 * MS);
		check(__atomic_load_n(&takers, __ATOMIC_SEQ_CST) == (unsigned int)i);
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check(!evl_peek_flags(&flags, &told) && told == 0x8);
}

static void polls(void)
{
	struct evl_poll_event found = { 0 };
	int set = evl_new_poll();
	struct timespec end = soon(CLOCK_MONOTONIC, 5 * MS);

	check(set >= 0 && !evl_add_pollfd(set, back.element.efd, POLLIN, evl_intval(5)));
	check(evl_timedpoll(set, &found, 1, &end) == -ETIMEDOUT);
	check(!evl_put_sem(&there));
	end = much_later();
	check(evl_timedpoll(set, &found, 1, &end) == 1 && found.pollval.val == 5 && found.events == POLLIN);
	check(!evl_tryget_sem(&back) && !close(set));
}

static void *asks(void *program)
{
	bool has_primary;
	int status;
	pid_t child;

	check(evl_attach_self("asks:%d", getpid()) >= 0);
	has_primary = is_primary();
	make();
	uses_alone();
	tells_threads();
	if (has_primary) {
		child = fork();
		if (!child) {
			execl(program, program, "answers", (char *)NULL);
			_exit(127);
		}
		shares();
		polls();
		check(!evl_put_sem(&there));
		get(&back);
		lock();
		check(waitpid(child, &status, 0) == child && !status && !evl_unlock_mutex(&mutex));
		printf("ok public elements\n");
	}
	check(!evl_close_event(&event) && !evl_close_mutex(&mutex) && !evl_close_flags(&flags));
	check(!evl_close_sem(&there) && !evl_close_sem(&back) && evl_open_sem(&back, "/evl-back") == -ENOENT);
	return NULL;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_join(start(50, argc > 1 ? answers : asks, argv[0]), NULL);
	return 0;
}
