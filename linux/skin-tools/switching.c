// SPDX-License-Identifier: GPL-2.0-only
#include "switching.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/cobalt.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "hold.h"

#define PRIORITY 1
/* Nanoseconds that a sleeper sleeps, and how often it does. */
#define SLEEP 1000000
#define BETWEEN_SLEEPS 10000000
/* The turn from which on a register is wrong. */
#define PROVOKED_TURN 100
/* Seconds in which threads have to begin, and to end. */
#define PATIENCE 5

int switching_provoked = -1;

static bool is_in_linux_only(const struct switcher *self)
{
	return self->kind.mode == SLEEPER || self->kind.mode == RTUS;
}

/*
 * The mode of the next wait: each of the others gets the turn in one mode, and the next time in the
 * other.
 */
static void choose_mode(struct switcher *self)
{
	unsigned int others = self->circle->count - 1, rounds = others % 2 ? 0 : self->turns / others;

	self->waits_in_linux = self->kind.mode == RTUO && (self->turns + rounds) % 2;
}

static struct switcher *choose_next(struct switcher *self)
{
	struct circle *circle = self->circle;

	do
		self->to = (self->to + 1) % circle->count;
	while (circle->members[self->to] == self);
	return circle->members[self->to];
}

static bool holds_registers(const struct switcher *self)
{
	if (is_in_linux_only(self) || self->waits_in_linux)
		return self->kind.holds_in_linux;
	return self->kind.holds_in_primary;
}

/* Waits for the turn, after giving it to another thread, which may be NULL. */
static void wait_for_turn(struct switcher *self, struct switcher *next)
{
	struct hold how = {
		.found = &self->found,
		.other = next ? &next->has_turn : NULL,
		.own = &self->has_turn,
		.in_linux = self->waits_in_linux ? &self->in_linux : NULL,
	};
	struct registers loaded;

	if (holds_registers(self)) {
		registers_fill(&self->loaded, self->number, self->turns);
		loaded = self->loaded;
		if (switching_provoked >= 0 && self->turns >= PROVOKED_TURN && self->kind.mode != SLEEPER)
			registers_spoil(&loaded, switching_provoked);
		how.loaded = &loaded;
	}
	hold(&how);
	self->has_waited = how.has_waited;
}

/* Whether a thread that has waited is in the mode in which it was to wait. */
static bool is_where_it_belongs(const struct switcher *self)
{
	return !cobalt_thread_mode() == !(is_in_linux_only(self) || self->waits_in_linux);
}

/* Looks at mode and registers after a switch. Nobody else has the turn, so nobody else writes. */
static void check(struct switcher *self, struct switcher *from)
{
	struct circle *circle = self->circle;

	if (self->has_waited && !is_where_it_belongs(self))
		circle->strayed++;
	if (!holds_registers(self) || registers_compare(&self->found, &self->loaded, &circle->mismatch))
		return;
	circle->damaged_after = from;
	circle->damaged = self;
	circle->ends = true;
}

/* Whatever else runs in Linux gets on, even if the circle could keep it from that. */
static void sleep_sometimes(const struct switcher *self)
{
	static __thread int64_t next;
	struct timespec length = { 0, SLEEP };

	if (self->kind.mode != SLEEPER || now() < next)
		return;
	nanosleep(&length, NULL);
	next = now() + BETWEEN_SLEEPS;
}

static void give_turn(struct switcher *self)
{
	struct circle *circle = self->circle;
	struct switcher *next = choose_next(self);

	self->turns++;
	choose_mode(self);
	circle->from = self;
	circle->at = next;
	circle->switches++;
	wait_for_turn(self, next);
}

/* Everybody gets the turn, to see that it is over. */
static void wake_all(struct circle *circle)
{
	unsigned int i;

	for (i = 0; i < circle->count; i++) {
		uint32_t *word = &circle->members[i]->has_turn;

		__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *take_turns(void *argument)
{
	struct switcher *self = argument;
	struct circle *circle = self->circle;

	wait_for_turn(self, NULL);
	while (!circle->ends) {
		sleep_sometimes(self);
		give_turn(self);
		if (circle->has_ended)
			break;
		check(self, circle->from);
		if (circle->last && circle->switches >= circle->last)
			circle->ends = true;
	}
	if (!circle->has_ended) {
		circle->has_ended = true;
		wake_all(circle);
	}
	return NULL;
}

static void check_waitv(struct switcher *self)
{
	/* The word has another value, so it does not wait. */
	struct futex_waitv waiter = self->in_linux;

	waiter.val = 1;
	if (syscall(SYS_futex_waitv, &waiter, 1, 0, NULL, CLOCK_MONOTONIC) == -1 && errno != EAGAIN)
		fail("%s: a thread with a real-time priority cannot wait in Linux: futex_waitv: %s; leave out rtuo, "
		     "or use a kernel that has it", self->name, strerror(errno));
}

/* Whether a thread waits where it belongs. */
static bool is_ready(const struct switcher *member)
{
	struct cobalt_threadstat stat;

	return is_in_linux_only(member) || (!cobalt_thread_stat(member->tid, &stat) && !(stat.status & XNRELAX));
}

static void is_late(int signal)
{
	(void)signal;
	fail("there are too many threads for primary mode; name fewer of them, end other programs that have some, "
	     "or raise `threads` in the section [dual] of the system file");
}

/* A thread for which there is no room waits until there is, and so does who starts it. */
static void set_patience(unsigned int seconds)
{
	struct sigaction action = { .sa_handler = is_late };

	sigaction(SIGALRM, &action, NULL);
	alarm(seconds);
}

static void await(const struct switcher *member)
{
	const struct timespec pause = { 0, 1000000 };

	while (!is_ready(member))
		nanosleep(&pause, NULL);
}

static void launch(struct switcher *member)
{
	member->in_linux.uaddr = (uintptr_t)&member->has_turn;
	member->in_linux.flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
	if (member->kind.mode == RTUO)
		check_waitv(member);
	member->thread = start(is_in_linux_only(member) ? 0 : PRIORITY, member->kind.cpu, take_turns, member);
	member->tid = cobalt_thread_pid(member->thread);
}

void switching_start(struct circle *circle)
{
	struct switcher *first = circle->members[0];
	unsigned int i;

	set_patience(PATIENCE);
	for (i = 0; i < circle->count; i++)
		launch(circle->members[i]);
	for (i = 0; i < circle->count; i++)
		await(circle->members[i]);
	set_patience(0);
	circle->from = circle->at = first;
	__atomic_store_n(&first->has_turn, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &first->has_turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool switching_end(struct circle *circle)
{
	struct timespec until;
	unsigned int i;

	circle->ends = true;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE;
	for (i = 0; i < circle->count; i++)
		if (pthread_timedjoin_np(circle->members[i]->thread, NULL, &until))
			return false;
	return true;
}
