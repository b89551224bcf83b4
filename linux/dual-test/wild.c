// SPDX-License-Identifier: GPL-2.0-only
/*
 * Futexes, files and signals of timers with wild arguments, in each combination: once in an
 * ordinary process, and once from primary mode. The outcome is the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "files.h"
#include "futex.h"
#include "test.h"

#define PAGE 4096
#define RESULTS 40000
/* Outcomes that differ, and are told. */
#define MOST_TOLD 20

#define UPPER 0x100000000ul
#define BIT(signal) (1ul << ((signal) - 1))

/* What a call came to: its result, and what it left behind. */
struct outcome {
	unsigned int call;
	unsigned int combination;
	long result;
	uint64_t left;
};

struct outcomes {
	unsigned int count;
	struct outcome all[RESULTS];
};

/* Those of an ordinary process, and of a marked one; and this process's. */
static struct outcomes *outcomes[2], *own;

/* A page before one that is not there, one that is only read, and one without any rights. */
static char *page, *constant, *none;

static void make_memory(void)
{
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	constant = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(page != MAP_FAILED && constant != MAP_FAILED && none != MAP_FAILED, "mmap: %s", strerror(errno));
	check(!munmap(page + PAGE, PAGE), "munmap: %s", strerror(errno));
}

/* Addresses: the first is a good one, and the last user page is not for processes. */
#define GOOD 64
#define PLACES 13

static uint64_t place(unsigned int number)
{
	uint64_t start = (uintptr_t)page;
	uint64_t places[PLACES] = {
		start + GOOD, start, start + PAGE - 4, start + PAGE - 8, start + 1, start + PAGE - 6, start + PAGE,
		(uintptr_t)constant, (uintptr_t)none, 0, 0x7ffffffff000, 0x800000000000, -8ul,
	};

	return places[number];
}

/* Where times are: none, a short one, a wrong one, one at the edge, nothing. */
#define TIMES 5

static uint64_t time_at(unsigned int number)
{
	struct timespec *times = (struct timespec *)(page + 512);
	uint64_t places[TIMES] = { 0, (uintptr_t)&times[0], (uintptr_t)&times[1], (uintptr_t)page + PAGE - 8, PAGE };

	times[0] = (struct timespec){ .tv_nsec = 100 * MICROSECOND };
	times[1] = (struct timespec){ .tv_sec = 1, .tv_nsec = SECOND };
	return places[number];
}

/* Chooses one of some values for the combination with that number, of which it leaves the rest. */
static unsigned int choose(unsigned int *combination, unsigned int count)
{
	unsigned int chosen = *combination % count;

	*combination /= count;
	return chosen;
}

#define CHOOSE(combination, values) values[choose(combination, COUNT(values))]

/* Makes a call from primary mode. One that waits is interrupted. */
static struct outcome *try(unsigned int combination, long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			   uint64_t f)
{
	static const struct itimerval soon = { .it_value = { 0, 3000 } }, never;
	struct outcome *outcome = &own->all[own->count++];

	check(own->count < RESULTS, "there are too many");
	*outcome = (struct outcome){ .call = number, .combination = combination };
	setitimer(ITIMER_REAL, &soon, NULL);
	to_primary();
	outcome->result = call(number, a, b, c, d, 0, f);
	setitimer(ITIMER_REAL, &never, NULL);
	return outcome;
}

/* The combination of that number; false: there is none. */
static bool try_futex(unsigned int number)
{
	static const struct {
		uint32_t command;
		uint64_t mask;
	} commands[] = {
		{ FUTEX_WAIT, 0 }, { FUTEX_WAKE, 0 }, { FUTEX_LOCK_PI, 0 }, { FUTEX_LOCK_PI2, 0 }, { FUTEX_TRYLOCK_PI, 0 },
		{ FUTEX_UNLOCK_PI, 0 }, { FUTEX_WAIT_BITSET, 0 }, { FUTEX_WAIT_BITSET, UPPER + 1 },
		{ FUTEX_WAIT_BITSET, -1ul }, { FUTEX_WAKE_BITSET, 0 }, { FUTEX_WAKE_BITSET, UPPER },
		{ FUTEX_WAKE_BITSET, -1ul }, { 2, 0 }, { 14, 0 }, { 127, 0 },
	};
	static const uint64_t bits[] = { 0, FUTEX_CLOCK_REALTIME, 512, UPPER };
	static const uint64_t values[] = { 0, 1, -1ul, UPPER, INT_MIN };
	unsigned int left = number;
	uint64_t at = place(choose(&left, PLACES)), value = CHOOSE(&left, values), time = time_at(choose(&left, TIMES));
	uint64_t bit = CHOOSE(&left, bits), which = choose(&left, COUNT(commands));
	uint32_t command = commands[which].command, *good = (uint32_t *)(page + GOOD), thread = gettid();
	struct outcome *outcome;

	if (left)
		return false;
	*(uint32_t *)page = 0;
	*good = command == FUTEX_UNLOCK_PI && value < 2 ? thread : 0;
	outcome = try(number, SYS_futex, at, command | FUTEX_PRIVATE_FLAG | bit, value, time,
		      commands[which].mask);
	outcome->left = *good == thread ? 1 : *good;
	/* Linux may know who owns it. */
	for (good = (uint32_t *)page; good <= (uint32_t *)(page + GOOD); good += GOOD / sizeof(*good))
		if (*good == thread)
			futex(good, FUTEX_UNLOCK_PI, 0, NULL, 0);
	return true;
}

static int make_file(unsigned int kind)
{
	int file;

	switch (kind) {
	case 0:
		return event(3, 0);
	case 1:
		return event(0, 0);
	case 2:
		return event(3, EFD_SEMAPHORE);
	case 3:
		return event(0, EFD_NONBLOCK);
	case 4:
		file = timer(CLOCK_MONOTONIC, 0);
		arm(file, 0, 1, 0);
		return file;
	case 5:
		return timer(CLOCK_REALTIME, TFD_NONBLOCK);
	default:
		return -1;
	}
}

#define KINDS 7

static bool try_file(unsigned int number)
{
	static const uint64_t lengths[] = {
		0, 1, 7, 8, 9, 16, PAGE, 1 << 20, 0x7ffff000, 0x80000000, UPPER + 8, 1ul << 47, LONG_MAX, 1ul << 63, -1ul, -8ul,
	};
	static const uint64_t uppers[] = { 0, UPPER, 1ul << 63 };
	static const long calls[] = { SYS_read, SYS_write };
	unsigned int left = number;
	uint64_t at = place(choose(&left, PLACES)), length = CHOOSE(&left, lengths), upper = CHOOSE(&left, uppers);
	unsigned int kind = choose(&left, KINDS);
	long which = CHOOSE(&left, calls);
	struct outcome *outcome;
	uint64_t rest = 0;
	int file;

	if (left)
		return false;
	memset(page, 1, PAGE);
	file = make_file(kind);
	outcome = try(number, which, (uint32_t)file | upper, at, length, 0, 0);
	memcpy(&outcome->left, page + GOOD, sizeof(outcome->left));
	if (file >= 0) {
		fcntl(file, F_SETFL, O_NONBLOCK);
		take(file, &rest);
		outcome->left ^= rest;
		close(file);
	}
	return true;
}

/* A signal that is blocked, and its timer. */
static int signal_number;
static timer_t signal_timer;

static void make_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_value.sival_int = 77 };
	sigset_t set;

	signal_number = event.sigev_signo = SIGRTMIN;
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	check(!timer_create(CLOCK_MONOTONIC, &event, &signal_timer), "timer_create: %s", strerror(errno));
}

/* Waits for the signal of a timer that expires soon. */
static bool try_signal(unsigned int number)
{
	static const struct itimerspec soon = { .it_value.tv_nsec = MILLISECOND }, never;
	static const uint64_t sizes[] = { 8, 0, 7, 9, 16, UPPER + 8, -1ul };
	const uint64_t sets[] = {
		BIT(signal_number), ~0ul, 0, BIT(1), BIT(signal_number) | BIT(SIGALRM), BIT(SIGKILL) | BIT(signal_number),
	};
	unsigned int left = number;
	uint64_t at = place(choose(&left, PLACES)), time = time_at(choose(&left, TIMES)), size = CHOOSE(&left, sizes);
	uint64_t *set = (uint64_t *)(page + 1024), from = choose(&left, 3);
	const uint64_t places[] = { (uintptr_t)set, 0, (uintptr_t)page + PAGE - 4 };
	const siginfo_t *info = (siginfo_t *)(page + GOOD);
	struct outcome *outcome;

	*set = CHOOSE(&left, sets);
	if (left)
		return false;
	memset(page + GOOD, 0, sizeof(*info));
	check(!timer_settime(signal_timer, 0, &soon, NULL), "timer_settime: %s", strerror(errno));
	outcome = try(number, SYS_rt_sigtimedwait, places[from], at, time, size, 0);
	outcome->left = (uint64_t)info->si_signo << 32 ^ info->si_code ^ info->si_int << 8 ^ (uint64_t)info->si_overrun << 40;
	check(!timer_settime(signal_timer, 0, &never, NULL), "timer_settime: %s", strerror(errno));
	/* What is left of it. */
	*set = BIT(signal_number);
	while (call(SYS_rt_sigtimedwait, (long)set, 0, (long)&never.it_value, 8, 0, 0) > 0)
		outcome->left += 1ul << 60;
	return true;
}

static bool try_overrun(unsigned int number)
{
	const uint64_t timers[] = { (uintptr_t)signal_timer, (uintptr_t)signal_timer + UPPER, 99, -1ul };

	if (number == COUNT(timers))
		return false;
	try(number, SYS_timer_getoverrun, timers[number], 0, 0, 0, 0);
	return true;
}

static void ignore(int sig)
{
	(void)sig;
}

static void try_all(void *is_marked)
{
	static bool (*const kinds[])(unsigned int number) = { try_futex, try_file, try_signal, try_overrun };
	struct sigaction action = { .sa_handler = ignore };
	unsigned int i, number;

	check(!sigaction(SIGALRM, &action, NULL), "sigaction: %s", strerror(errno));
	own = outcomes[*(bool *)is_marked];
	if (*(bool *)is_marked)
		mark(0);
	be_real_time();
	munlockall();
	make_memory();
	make_timer();
	for (i = 0; i < COUNT(kinds); i++)
		for (number = 0; kinds[i](number); number++)
			;
}

/* Of a timer, Linux 6.10 and later copies what has room before memory that is not there. */
static bool is_short_read(const struct outcome *outcome)
{
	return outcome->call == SYS_read && outcome->result > 0 && outcome->result < 8;
}

void hostile_waits(void)
{
	unsigned int i, count, different = 0;
	bool marked;
	int status;

	for (i = 0; i < 2; i++) {
		marked = i;
		outcomes[i] = shared(sizeof(*outcomes[i]));
		status = status_of(spawn(try_all, &marked));
		check(!status, "a process's status is %#x", status);
	}
	count = outcomes[0]->count;
	check(outcomes[1]->count == count, "%u results instead of %u", outcomes[1]->count, count);
	for (i = 0; i < count; i++) {
		const struct outcome *right = &outcomes[0]->all[i], *other = &outcomes[1]->all[i];

		if (right->result == other->result && right->left == other->left)
			continue;
		if (is_short_read(right) && other->result == -EFAULT)
			continue;
		if (different++ < MOST_TOLD)
			tell("call %u, combination %u: %ld, %#lx instead of %ld, %#lx", right->call, right->combination,
			     other->result, other->left, right->result, right->left);
	}
	check(!different, "%u of %u are different", different, count);
	tell("%u calls", count);
}
