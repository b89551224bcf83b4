// SPDX-License-Identifier: GPL-2.0-only
/* Objects with names: threads of different processes wait for each other in primary mode. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pillion_objects.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define TURNS 200

static long open_named(const char *name, unsigned int kind, unsigned int flags, unsigned int object_flags)
{
	struct pillion_dual_open open = { .kind = kind, .flags = flags, .mode = 0600, .object_flags = object_flags };

	strcpy(open.name, name);
	return pillion_open(device, &open);
}

/* Opens an object, or makes it. */
static long meet(const char *name, unsigned int kind, unsigned int object_flags)
{
	long handle = open_named(name, kind, PILLION_DUAL_OPEN_CREATE, object_flags);

	check(handle > 0, "%s: %ld", name, handle);
	return handle;
}

#define MEET_MUTEX(name) meet(name, PILLION_DUAL_OBJECT_MUTEX, PILLION_DUAL_OBJECT_INHERIT)
#define MEET_CONDITION(name) meet(name, PILLION_DUAL_OBJECT_CONDITION, 0)
#define MEET_FLAGS(name) meet(name, PILLION_DUAL_OBJECT_FLAGS, 0)

static int64_t soon(int64_t ns)
{
	return now(CLOCK_MONOTONIC) + ns;
}

/* What both processes see. */
struct game {
	volatile int turn;
	volatile bool is_ordinary;
	volatile pid_t owner;
};

/* A turn is taken under the mutex; whose turn it is, the condition tells. */
static void play(struct game *game, int me)
{
	long mutex = MEET_MUTEX("/turns"), condition = MEET_CONDITION("/turns");
	uint64_t entries_before = 0;
	struct pillion_dual_thread seen = { .entries = 0 };

	check(!pillion_mutex_lock(device, mutex, PILLION_FOREVER, 0), "lock");
	if (look(gettid(), &seen))
		entries_before = seen.entries;
	check(!pillion_mutex_unlock(device, mutex), "unlock");
	while (game->turn < TURNS) {
		check(!pillion_mutex_lock(device, mutex, PILLION_FOREVER, 0), "lock");
		while (game->turn % 2 != me && game->turn < TURNS) {
			long result = pillion_condition_wait(device, condition, mutex, CLOCK_MONOTONIC, soon(20 * SECOND));

			check(!result, "turn %d: %ld", game->turn, result);
		}
		game->turn++;
		check(!pillion_condition_wake(device, condition, true), "wake");
		check(!pillion_mutex_unlock(device, mutex), "unlock");
		if (!game->is_ordinary)
			check(is_primary(), "process %d is in Linux", me);
	}
	if (!game->is_ordinary) {
		check(look(gettid(), &seen), "look");
		/* Once after it looked before, and at most once more because its budget ended. */
		check(seen.entries <= entries_before + 2, "%llu entries", (unsigned long long)(seen.entries - entries_before));
	}
}

static void plays(void *game)
{
	mark(0);
	if (!((struct game *)game)->is_ordinary)
		be_real_time();
	play(game, 1);
}

/* Threads of two processes take turns without Linux; an ordinary one, from Linux. */
void names(void)
{
	struct game *game = shared(sizeof(*game));
	pid_t child;
	int i;

	if (is_native)
		return;
	enter();
	for (i = 0; i < 2; i++) {
		game->turn = 0;
		game->is_ordinary = i;
		child = spawn(plays, game);
		/* The handles of one process are nothing to another that has not opened them. */
		play(game, 0);
		check(!status_of(child), "the other process");
	}
}

static void waits_for_flags(void *nothing)
{
	long flags;

	(void)nothing;
	enter();
	flags = MEET_FLAGS("/flags");
	check(pillion_flags_set(device, flags, 1) >= 0, "it is there");
	check(pillion_flags_wait(device, flags, 2, CLOCK_MONOTONIC, soon(20 * SECOND)) == 2, "the answer");
}

static void uses_foreign(void *handle)
{
	enter();
	check(pillion_flags_set(device, *(long *)handle, 4) == -EINVAL, "an object that was not opened");
}

/* A name and its object, from the first open to the last close. */
void names_end(void)
{
	long flags, other, own;
	pid_t child;

	if (is_native)
		return;
	enter();
	check(open_named("/flags", PILLION_DUAL_OBJECT_FLAGS, 0, 0) == -ENOENT, "no such name");
	flags = MEET_FLAGS("/flags");
	check(MEET_FLAGS("/flags") == flags, "the same once more");
	check(open_named("/flags", PILLION_DUAL_OBJECT_FLAGS, PILLION_DUAL_OPEN_CREATE | PILLION_DUAL_OPEN_EXCLUSIVE, 0) ==
	      -EEXIST, "it is there");
	check(open_named("/flags", PILLION_DUAL_OBJECT_MUTEX, 0, 0) == -ENOENT, "another kind");
	child = spawn(waits_for_flags, NULL);
	check(pillion_flags_wait(device, flags, 1, CLOCK_MONOTONIC, soon(20 * SECOND)) == 1, "the other process");
	check(!pillion_unlink(device, "/flags", PILLION_DUAL_OBJECT_FLAGS), "unlink");
	check(pillion_unlink(device, "/flags", PILLION_DUAL_OBJECT_FLAGS) == -ENOENT, "unlink twice");
	other = MEET_FLAGS("/flags");
	check(other != flags && !pillion_flags_clear(device, other, 0), "another of that name");
	check(!pillion_flags_set(device, flags, 2), "the first one stays");
	check(!status_of(child), "the other process");
	check(!status_of(spawn(uses_foreign, &other)), "a foreign process");
	check(!pillion_close(device, flags) && pillion_close(device, flags) == -EINVAL, "close");
	check(pillion_flags_set(device, flags, 1) == -EINVAL, "after its end");
	check(!pillion_close(device, other), "close");
	check(open_named("/flags", PILLION_DUAL_OBJECT_FLAGS, 0, 0) == -ENOENT, "a name after its end");
	own = pillion_create(device, PILLION_DUAL_OBJECT_FLAGS, 0, 0);
	check(pillion_close(device, own) == -EINVAL && !pillion_destroy(device, own), "an object without a name");
	check(pillion_destroy(device, MEET_FLAGS("/flags")) == -EINVAL, "one with a name is not destroyed");
}

/* Owns the mutex until it is killed, in one of three ways. */
static void owns(void *context)
{
	struct game *game = context;
	long mutex;

	mark(0);
	if (!game->is_ordinary)
		be_real_time();
	mutex = MEET_MUTEX("/owned");
	check(!pillion_mutex_lock(device, mutex, PILLION_FOREVER, 0), "lock");
	game->owner = getpid();
	if (game->turn == 0)
		pause();
	/* In primary mode. */
	while (game->turn == 1)
		sleep_for(CLOCK_MONOTONIC, 100 * MICROSECOND, NULL);
	for (;;)
		pillion_flags_wait(device, MEET_FLAGS("/never"), 1, PILLION_FOREVER, 0);
}

static void *kills(void *context)
{
	struct game *game = context;

	usleep(20000);
	kill(game->owner, SIGKILL);
	return NULL;
}

static void survives(struct game *game, int way)
{
	long mutex = MEET_MUTEX("/owned"), result;
	pthread_t killer;
	pid_t child;

	game->owner = 0;
	game->turn = way % 3;
	game->is_ordinary = way >= 3;
	child = spawn(owns, game);
	while (!game->owner)
		usleep(1000);
	killer = begin_thread(0, kills, game);
	/* Once the owner ends while this thread waits; and once before. */
	if (way & 1)
		pthread_join(killer, NULL);
	result = pillion_mutex_lock(device, mutex, CLOCK_MONOTONIC, soon(20 * SECOND));
	check(result == -EOWNERDEAD, "way %d: %ld", way, result);
	check(!pillion_mutex_unlock(device, mutex), "unlock");
	check(!pillion_mutex_lock(device, mutex, PILLION_TRY, 0) && !pillion_mutex_unlock(device, mutex), "told twice");
	if (!(way & 1))
		pthread_join(killer, NULL);
	check(WIFSIGNALED(status_of(child)), "the owner");
}

/* A process is killed while it owns a mutex: the next owner is told, at once. */
void names_owner_dies(void)
{
	struct game *game = shared(sizeof(*game));
	int way;

	if (is_native)
		return;
	enter();
	for (way = 0; way < 6; way++)
		survives(game, way);
}

static void waits_for_owned(void *nothing)
{
	(void)nothing;
	enter();
	pillion_mutex_lock(device, MEET_MUTEX("/owned"), PILLION_FOREVER, 0);
	check(false, "it got the mutex");
}

/* A process is killed while it waits: nobody misses it. */
void names_waiter_dies(void)
{
	long mutex;
	pid_t child;
	int i;

	if (is_native)
		return;
	enter();
	mutex = MEET_MUTEX("/owned");
	for (i = 0; i < 3; i++) {
		check(!pillion_mutex_lock(device, mutex, PILLION_FOREVER, 0), "lock");
		child = spawn(waits_for_owned, NULL);
		sleep_for(CLOCK_MONOTONIC, 50 * MILLISECOND, NULL);
		kill(child, SIGKILL);
		check(WIFSIGNALED(status_of(child)), "the waiter");
		check(!pillion_mutex_unlock(device, mutex), "unlock");
	}
	check(!pillion_close(device, mutex), "close");
}

/* Somebody who may use real-time priorities, and is in one group more. */
static void is_somebody(void *expected)
{
	const struct rlimit limit = { 99, 99 };
	gid_t group = 4242;

	check(!setrlimit(RLIMIT_RTPRIO, &limit), "setrlimit: %s", strerror(errno));
	check(!setgroups(1, &group) && !setresgid(1000, 1000, 1000) && !setresuid(1000, 1000, 1000), "another user");
	mark(0);
	check(open_named("/rights", PILLION_DUAL_OBJECT_FLAGS, 0, 0) == *(long *)expected, "what it may");
	if (*(long *)expected > 0)
		check(!pillion_flags_set(device, *(long *)expected, 1), "its use");
	check(pillion_unlink(device, "/rights", PILLION_DUAL_OBJECT_FLAGS) == -EACCES, "it is not the owner");
}

static void may_rise_to_20(void *nothing)
{
	const struct rlimit limit = { 20, 20 };
	struct pillion_dual_open open = { .name = "/ceiling", .kind = PILLION_DUAL_OBJECT_MUTEX, .value = 21,
					  .flags = PILLION_DUAL_OPEN_CREATE, .mode = 0666 };
	long mutex;

	(void)nothing;
	check(!setrlimit(RLIMIT_RTPRIO, &limit) && !setgroups(0, NULL), "setrlimit: %s", strerror(errno));
	check(!setresgid(1000, 1000, 1000) && !setresuid(1000, 1000, 1000), "another user");
	mark(0);
	check(pillion_create(device, PILLION_DUAL_OBJECT_MUTEX, 100, 0) == -EINVAL, "no priority");
	check(pillion_create(device, PILLION_DUAL_OBJECT_MUTEX, 21, 0) == -EPERM, "a mutex above its limit");
	check(pillion_open(device, &open) == -EPERM, "one with a name");
	mutex = pillion_create(device, PILLION_DUAL_OBJECT_MUTEX, 20, 0);
	check(mutex > 0 && pillion_mutex_ceiling(device, mutex, 21) == -EPERM, "one at its limit: %ld", mutex);
	check(pillion_mutex_ceiling(device, mutex, 15) == 20 && pillion_mutex_ceiling(device, mutex, 0) == 15, "one below it");
}

/* A mutex makes nobody more urgent than Linux allows. */
void names_ceiling(void)
{
	if (is_native)
		return;
	check(!status_of(spawn(may_rise_to_20, NULL)), "its ceilings");
}

static long made_with(unsigned int mode, gid_t group)
{
	struct pillion_dual_open open = { .name = "/rights", .kind = PILLION_DUAL_OBJECT_FLAGS,
					  .flags = PILLION_DUAL_OPEN_CREATE | PILLION_DUAL_OPEN_EXCLUSIVE, .mode = mode };
	gid_t own = getgid();
	long handle;

	check(!setresgid(-1, group, -1), "group");
	mark(0);
	handle = pillion_open(device, &open);
	check(!setresgid(-1, own, -1), "group");
	mark(0);
	check(handle > 0, "mode %o: %ld", mode, handle);
	return handle;
}

/* Who may open an object: as a file with that mode, less the umask. */
void names_rights(void)
{
	static const struct {
		unsigned int mode, mask;
		gid_t group;
		bool may;
	} ways[] = {
		{ 0600, 0, 0, false }, { 0660, 0, 0, false }, { 0660, 0, 4242, true }, { 0666, 0, 0, true },
		{ 0666, 022, 0, false }, { 0664, 0, 0, false }, { 0640, 0, 4242, false },
	};
	unsigned int i;
	long no = -EACCES;

	if (is_native)
		return;
	mark(0);
	for (i = 0; i < COUNT(ways); i++) {
		mode_t mask = umask(ways[i].mask);
		long handle = made_with(ways[i].mode, ways[i].group);

		umask(mask);
		check(!status_of(spawn(is_somebody, ways[i].may ? &handle : &no)), "mode %o", ways[i].mode);
		check(!pillion_close(device, handle), "close");
	}
}

struct many {
	int names;
	int processes;
};

static void opens_many(void *context)
{
	struct many *many = context;
	char name[32];
	long handle;
	int count;

	mark(0);
	for (count = 0; ; count++) {
		sprintf(name, "/many-%d-%d", getpid(), count);
		handle = open_named(name, PILLION_DUAL_OBJECT_FLAGS, PILLION_DUAL_OPEN_CREATE, 0);
		if (handle < 0)
			break;
	}
	check(handle == -ENOSPC, "after %d: %ld", count, handle);
	__atomic_add_fetch(&many->names, count, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&many->processes, 1, __ATOMIC_SEQ_CST);
	pause();
}

/* Names run out; they are there again when those who took them have ended. */
void names_full(void)
{
	volatile struct many *many = shared(sizeof(*many));
	pid_t children[3];
	unsigned int i;

	if (is_native)
		return;
	mark(0);
	for (i = 0; i < COUNT(children); i++) {
		children[i] = spawn(opens_many, (void *)many);
		while (many->processes <= (int)i)
			usleep(1000);
	}
	check(open_named("/one-more", PILLION_DUAL_OBJECT_FLAGS, PILLION_DUAL_OPEN_CREATE, 0) == -ENOSPC, "one more");
	for (i = 0; i < COUNT(children); i++) {
		kill(children[i], SIGKILL);
		status_of(children[i]);
	}
	check(many->names == 64, "%d names", many->names);
	MEET_FLAGS("/one-more");
}

/* What is no name, and addresses that are none. */
void hostile_names(void)
{
	struct pillion_dual_open open = { .kind = PILLION_DUAL_OBJECT_FLAGS, .flags = PILLION_DUAL_OPEN_CREATE, .mode = 0600 };
	const long bad[] = { 0, 8, -1, 1l << 47, (long)0xffff800000000000 };
	unsigned int i;

	if (is_native)
		return;
	enter();
	check(pillion_open(device, &open) == -EINVAL, "no name");
	memset(open.name, 'x', sizeof(open.name));
	check(pillion_open(device, &open) == -ENAMETOOLONG, "a name without an end");
	open.name[sizeof(open.name) - 1] = 0;
	check(pillion_open(device, &open) > 0, "the longest name");
	strcpy(open.name, "/x");
	open.kind = 99;
	check(pillion_open(device, &open) == -EINVAL, "no kind");
	open.kind = PILLION_DUAL_OBJECT_FLAGS;
	open.flags = ~0u;
	check(pillion_open(device, &open) == -EINVAL, "unknown flags");
	for (i = 0; i < COUNT(bad); i++)
		check(pillion_open(device, (void *)bad[i]) == -EFAULT, "address %#lx", bad[i]);
	/* From primary mode, nothing is named, whatever was named before. */
	to_primary();
	check(is_primary(), "it is in Linux");
	check(CALL4(PILLION_DUAL_SERVICE_FIRST + PILLION_DUAL_SERVICE_OPEN, device, 0, &open, 0) == -ENOSYS, "from primary mode");
	check(!is_primary(), "it did not lead to Linux");
}
