// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits in all their forms, ways to make and open objects, and what is told of switches to Linux.
 * The first failure ends the program.
 */
#include <evl/evl.h>
#include <limits.h>
#include <signal.h>

#include "../../uapi/pillion_dual.h"
#include "../check.h"
#include "later.h"

/* A wait until a time, and one that does not wait. */
struct form {
	const char *name;
	int (*timed)(const struct timespec *end);
	int (*endless)(void);
	int (*tries)(void);
	/* What a try returns that gets nothing. */
	int nothing;
};

static struct evl_sem sem;
static struct evl_flags flags;
static struct evl_mutex mutex;
static struct evl_event event;
static struct evl_rwlock reads, writes;
static int told = 77;

#define FORM(name, object, timed, endless, tries, ...)                                   \
	static int timed_##name(const struct timespec *end) { return timed(object, ##__VA_ARGS__); } \
	static int endless_##name(void) { return endless; }                             \
	static int tries_##name(void) { return tries; }

FORM(sem, &sem, evl_timedget_sem, evl_get_sem(&sem), evl_tryget_sem(&sem), end)
FORM(flags, &flags, evl_timedwait_flags, evl_wait_flags(&flags, &told), evl_trywait_flags(&flags, &told), end, &told)
FORM(some, &flags, evl_timedwait_some_flags, evl_wait_some_flags(&flags, 6, &told), evl_trywait_some_flags(&flags, 6, &told),
     6, end, &told)
FORM(exact, &flags, evl_timedwait_exact_flags, evl_wait_exact_flags(&flags, 6), evl_trywait_exact_flags(&flags, 6), 6, end)
FORM(reads, &writes, evl_timedlock_read, evl_lock_read(&writes), evl_trylock_read(&writes), end)
FORM(writes, &reads, evl_timedlock_write, evl_lock_write(&reads), evl_trylock_write(&reads), end)

static int timed_event(const struct timespec *end)
{
	int error = evl_lock_mutex(&mutex), result;

	if (error)
		return error;
	result = evl_timedwait_event(&event, &mutex, end);
	check(!evl_unlock_mutex(&mutex));
	return result;
}

static int endless_event(void)
{
	int error = evl_lock_mutex(&mutex), result;

	if (error)
		return error;
	result = evl_wait_event(&event, &mutex);
	check(!evl_unlock_mutex(&mutex));
	return result;
}

static const struct form forms[] = {
	{ "semaphore", timed_sem, endless_sem, tries_sem, -EAGAIN },
	{ "flags", timed_flags, endless_flags, tries_flags, -EAGAIN },
	{ "some flags", timed_some, endless_some, tries_some, -EAGAIN },
	{ "exact flags", timed_exact, endless_exact, tries_exact, -EAGAIN },
	{ "event", timed_event, endless_event, NULL, 0 },
	{ "lock for readers", timed_reads, endless_reads, tries_reads, -EBUSY },
	{ "lock for writers", timed_writes, endless_writes, tries_writes, -EBUSY },
};

static bool is_past(const struct timespec *time)
{
	struct timespec now = later(0);

	return now.tv_sec > time->tv_sec || (now.tv_sec == time->tv_sec && now.tv_nsec >= time->tv_nsec);
}

struct waiter {
	const struct form *form;
	const struct timespec *end;
	volatile int efd;
	volatile bool has_ended;
	int result;
};

static void *waits(void *argument)
{
	struct waiter *waiter = argument;
	int efd = evl_attach_self(NULL);

	check(efd >= 0);
	waiter->efd = efd;
	waiter->result = waiter->end ? waiter->form->timed(waiter->end) : waiter->form->endless();
	waiter->has_ended = true;
	return NULL;
}

/* Without an end, or with one that never comes. */
static void endlessly(const struct form *form)
{
	static const struct timespec never = { LONG_MAX, 999999999 }, zero = { 0, 0 };
	const struct timespec *const ends[] = { NULL, &never, &zero };
	unsigned int i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct waiter waiter = { .form = form, .end = ends[i], .efd = -1 };
		pthread_t thread = start(55, waits, &waiter);

		while (!waiter.has_ended) {
			check(!evl_usleep(250));
			if (waiter.efd >= 0)
				evl_unblock_thread(waiter.efd);
		}
		pthread_join(thread, NULL);
		check(waiter.result == -EINTR && !close(waiter.efd));
	}
}

static void gets_nothing(const struct form *form)
{
	static const struct timespec past = { 0, 1 }, bad = { 0, SECOND }, negative = { -1, 0 };
	struct timespec end = later(2 * MS);

	check(form->timed(&past) == -ETIMEDOUT && form->timed(&bad) == -EINVAL && form->timed(&negative) == -EINVAL);
	check(form->timed(&end) == -ETIMEDOUT && is_past(&end));
	check(!form->tries || form->tries() == form->nothing);
	endlessly(form);
	check(told == 77);
	printf("ok waits: %s\n", form->name);
}

static void make_all(void)
{
	check(evl_create_sem(&sem, EVL_CLOCK_MONOTONIC, 0, EVL_CLONE_PRIVATE, "a-sem") >= 0);
	check(evl_create_flags(&flags, EVL_CLOCK_MONOTONIC, 0, EVL_CLONE_PRIVATE, "some-%s", "flags") >= 0);
	check(evl_create_event(&event, EVL_CLOCK_MONOTONIC, EVL_CLONE_PRIVATE, "an-event") >= 0);
	check(evl_create_rwlock(&reads, EVL_CLOCK_MONOTONIC, EVL_CLONE_PRIVATE, "a-lock") >= 0);
	check(evl_create_rwlock(&writes, EVL_CLOCK_MONOTONIC, EVL_CLONE_PRIVATE, NULL) >= 0);
	check(evl_create_mutex(&mutex, EVL_CLOCK_MONOTONIC, 0, EVL_MUTEX_NORMAL, "a-mutex") >= 0);
}

/* Objects that are there are found; a name is its object's as long as that is open. */
static void open_all(void)
{
	struct evl_rwlock rwlock;
	struct evl_flags group;
	struct evl_sem other;
	struct evl_event second;
	struct evl_mutex lock;

	check(evl_create_sem(&other, EVL_CLOCK_MONOTONIC, 0, EVL_CLONE_PRIVATE, "a-sem") == -EEXIST);
	check(evl_create_sem(&other, 77, 0, EVL_CLONE_PRIVATE, NULL) == -EINVAL);
	check(evl_create_flags(&group, EVL_CLOCK_MONOTONIC, 0, 1, NULL) == -EINVAL);
	check(evl_create_event(&second, 77, EVL_CLONE_PRIVATE, NULL) == -EINVAL);
	check(evl_create_rwlock(&rwlock, EVL_CLOCK_MONOTONIC, 1, NULL) == -EINVAL);
	check(evl_open_sem(&other, "none") == -ENOENT && evl_open_flags(&group, "none") == -ENOENT);
	check(evl_open_event(&second, "none") == -ENOENT && evl_open_rwlock(&rwlock, "none") == -ENOENT);
	check(evl_open_mutex(&lock, "none") == -ENOENT);
	check(evl_open_sem(&other, "a-%s", "sem") >= 0 && !evl_put_sem(&other) && !evl_tryget_sem(&sem));
	check(evl_open_flags(&group, "some-flags") >= 0 && !evl_post_flags(&group, 6) && !evl_trywait_exact_flags(&flags, 6));
	check(evl_open_event(&second, "an-event") >= 0 && !evl_signal_event(&second));
	check(evl_open_rwlock(&rwlock, "a-lock") >= 0 && !evl_trylock_write(&rwlock) && evl_trylock_read(&reads) == -EDEADLK);
	check(!evl_unlock_write(&reads));
	check(evl_open_mutex(&lock, "a-mutex") >= 0 && !evl_lock_mutex(&lock) && !evl_unlock_mutex(&mutex));
	check(!evl_close_sem(&other) && !evl_close_flags(&group) && !evl_close_event(&second) && !evl_close_rwlock(&rwlock));
	check(!evl_close_mutex(&lock));
	/* What is closed is none any more. */
	check(evl_put_sem(&other) == -EINVAL && evl_post_flags(&group, 1) == -EINVAL && evl_signal_event(&second) == -EINVAL);
	check(evl_trylock_read(&rwlock) == -EINVAL && evl_lock_mutex(&lock) == -EINVAL && evl_close_sem(&other) == -EINVAL);
	printf("ok objects with names\n");
}

static void *named(void *nothing)
{
	check(evl_attach_self("named:%d", getpid()) >= 0);
	open_all();
	return nothing;
}

static void *in_all_forms(void *nothing)
{
	const struct timespec end = later(SECOND), past = { 0, 1 };
	unsigned int i;

	/* What waits is not for a thread that is not attached. */
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		check(forms[i].timed(&end) == -EPERM && forms[i].endless() == -EPERM);
	check(evl_attach_self("waits:%d", getpid()) >= 0);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		gets_nothing(&forms[i]);
	check(evl_timedlock_mutex(&mutex, &past) == 0 && evl_trylock_mutex(&mutex) == -EBUSY && evl_lock_mutex(&mutex) == -EDEADLK);
	check(!evl_unlock_mutex(&mutex));
	/* What is there is had at any time. */
	check(!evl_put_sem(&sem) && !evl_timedget_sem(&sem, &past) && !evl_post_flags(&flags, 15));
	check(!evl_timedwait_some_flags(&flags, 3, &past, &told) && told == 3);
	check(!evl_timedwait_exact_flags(&flags, 12, &past) && evl_trywait_flags(&flags, &told) == -EAGAIN);
	check(evl_timedwait_some_flags(&flags, 0, &past, &told) == -EINVAL && evl_wait_exact_flags(&flags, 0) == -EINVAL);
	check(!evl_timedlock_read(&reads, &past) && !evl_unlock_read(&reads));
	return nothing;
}

/* The main thread has both locks meanwhile. */
static void with_owner(void)
{
	const struct timespec end = later(SECOND);

	check(evl_attach_self("owner:%d", getpid()) >= 0 && !evl_lock_write(&writes) && !evl_lock_read(&reads));
	check(evl_lock_write(&writes) == -EDEADLK && evl_timedlock_read(&writes, &end) == -EDEADLK);
	pthread_join(start(50, in_all_forms, NULL), NULL);
	check(!evl_unlock_write(&writes) && !evl_unlock_read(&reads) && evl_unlock_write(&writes) == -EPERM);
	check(evl_unlock_read(&reads) == -EPERM);
}

static int print(int proxy, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = evl_vprint_proxy(proxy, format, arguments);
	va_end(arguments);
	return size;
}

static void clocks_and_text(void)
{
	struct timex nothing = { 0 };
	struct timespec time = { 0, SECOND };
	int ends[2], proxy;
	char text[16];

	check(evl_adjust_clock(EVL_CLOCK_REALTIME, &nothing) >= 0 && evl_adjust_clock(77, &nothing) == -EBADF);
	check(evl_set_clock(77, &time) == -EBADF && evl_set_clock(EVL_CLOCK_REALTIME, &time) == -EINVAL);
	check(evl_read_clock(77, &time) == -EBADF && evl_get_clock_resolution(77, &time) == -EBADF);
	check(!pipe(ends));
	proxy = evl_new_proxy(ends[1], 64, "text:%d", getpid());
	check(proxy >= 0 && print(proxy, "%d %s", 25, "words") == 8 && print(ends[0], "no") == -EBADF);
	check(read(ends[0], text, sizeof(text)) == 8 && !memcmp(text, "25 words", 8) && !close(proxy));
	printf("ok clocks and text\n");
}

/* The handler has a text for each cause. */
static void causes(void)
{
	siginfo_t info = { .si_signo = SIGDEBUG };
	int ends[2], before = dup(STDERR_FILENO), reason;
	char text[256];
	ssize_t size;

	evl_sigdebug_handler(SIGDEBUG, &info, NULL);
	check(before >= 0 && !sigdebug_marked(&info) && !pipe(ends));
	for (reason = PILLION_DUAL_DEBUG_SIGNAL; reason <= PILLION_DUAL_DEBUG_WATCHDOG; reason++) {
		info.si_value.sival_int = PILLION_DUAL_DEBUG_MARK | reason;
		check(dup2(ends[1], STDERR_FILENO) >= 0);
		evl_sigdebug_handler(SIGDEBUG, &info, NULL);
		check(dup2(before, STDERR_FILENO) >= 0);
		size = read(ends[0], text, sizeof(text) - 1);
		text[size > 0 ? size : 0] = 0;
		check(sigdebug_marked(&info) && size > 0 && !strstr(text, "unknown"));
	}
	printf("ok causes\n");
}

int main(void)
{
	make_all();
	pthread_join(start(50, named, NULL), NULL);
	with_owner();
	clocks_and_text();
	causes();
	return 0;
}
