// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals and ends of processes that meet a thread in each wait of primary mode, and on its way
 * into it and out of it. Where it is when it is hit is what its slot says, in the memory that Linux
 * and the task share.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <pillion_channel.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "futex.h"
#include "queues.h"
#include "test.h"

#define PAGE 4096
/* Processes of each kind, and signals that each gets before its end. */
#define VICTIMS 20
#define SIGNALS 8
/* How long a wait takes. */
#define WAIT (100 * MICROSECOND)
/* What it computes afterwards: its budget is 100 µs in a millisecond. */
#define COMPUTATION (12 * MICROSECOND)
/* Ways to Linux and back that take more than that. */
#define TURNS 80
/* How often it is looked at, at most, for a state that none was hit in. */
#define AIMS 400

/* Where a thread is: in no slot, in one that is not taken yet, ..., in one that was given back. */
enum { IN_LINUX, OFFERED, COMPUTES, WAITS, RETURNED, STATES };
static const char *const states[STATES] = { "in Linux", "offered", "computes", "waits", "returned" };

/* What it waits for. */
enum { A_TIME, A_FUTEX, AN_EVENT, A_TIMER, A_QUEUE, A_SIGNAL, A_SEMAPHORE, KINDS };

/* A process that waits again and again. */
static struct victim {
	unsigned int kind;
	volatile unsigned int waits;
	volatile unsigned int handled;
} *victim;

static int file;
static mqd_t queue;
static long semaphore;

static const struct pillion_dual_slot *slots;
static unsigned int slot_count;

static void map_slots(void)
{
	unsigned int version, line, first, pages;
	const struct pillion_directory *directory;
	int memory = open("/dev/mem", O_RDONLY | O_CLOEXEC);

	check(memory >= 0, "/dev/mem: %s", strerror(errno));
	__cpuid(PILLION_CPUID_LEAF, version, line, first, pages);
	check(version == PILLION_CHANNEL_VERSION, "version %u of the channels, line %u", version, line);
	directory = mmap(NULL, (size_t)pages * PAGE, PROT_READ, MAP_SHARED, memory, (off_t)first * PAGE);
	check(directory != MAP_FAILED, "the memory at page %#x: %s", first, strerror(errno));
	slots = (const void *)((const char *)directory + directory->dual + sizeof(struct pillion_dual));
	slot_count = (directory->dual_size - sizeof(struct pillion_dual)) / sizeof(*slots);
}

static unsigned int state_of(pid_t thread)
{
	const volatile struct pillion_dual_slot *slot;

	for (slot = slots; slot < slots + slot_count; slot++) {
		if (slot->thread != (uint32_t)thread || slot->state == PILLION_DUAL_STATE_LINUX)
			continue;
		if (slot->state == PILLION_DUAL_STATE_PRIMARY)
			return slot->waiting ? WAITS : COMPUTES;
		return slot->state == PILLION_DUAL_STATE_OFFERED ? OFFERED : RETURNED;
	}
	return IN_LINUX;
}

static void handles(int sig)
{
	(void)sig;
	victim->handled++;
}

/* Ends the waits of the other thread. */
static void *writes(void *nothing)
{
	for (;;) {
		sleep_for(CLOCK_MONOTONIC, WAIT, NULL);
		add(file, 1);
	}
	return nothing;
}

static void begin_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec often = { .it_value.tv_nsec = WAIT, .it_interval.tv_nsec = WAIT };
	sigset_t set;
	timer_t timer;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	check(!sigprocmask(SIG_BLOCK, &set, NULL) && !timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create");
	check(!timer_settime(timer, 0, &often, NULL), "timer_settime");
}

static void prepare(unsigned int kind)
{
	struct sigaction action = { .sa_handler = handles };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	check(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	enter();
	if (kind == AN_EVENT) {
		file = event(0, 0);
		begin_thread(PRIORITY - 1, writes, NULL);
	} else if (kind == A_TIMER) {
		file = timer(CLOCK_MONOTONIC, 0);
		arm(file, 0, WAIT, WAIT);
	} else if (kind == A_QUEUE) {
		queue = make_queue(4, 32, 0);
	} else if (kind == A_SIGNAL) {
		begin_timer();
	} else if (kind == A_SEMAPHORE) {
		semaphore = service(PILLION_DUAL_SERVICE_CREATE, PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0, 0);
		check(semaphore > 0, "a semaphore: %ld", semaphore);
	}
}

/* Waits once, for a moment. Returns whether what came of it is what Linux's calls return. */
static bool wait_once(unsigned int kind)
{
	const struct timespec time = timespec_of(WAIT);
	const uint64_t set = 1ul << (SIGRTMIN - 1);
	static uint32_t word;
	uint64_t value;
	char text[32];
	long result;

	switch (kind) {
	case A_TIME:
		result = sleep_for(CLOCK_MONOTONIC, WAIT, NULL);
		return !result || result == -EINTR;
	case A_FUTEX:
		result = futex(&word, FUTEX_WAIT, 0, &time, 0);
		return result == -ETIMEDOUT || result == -EINTR;
	case AN_EVENT:
	case A_TIMER:
		result = take(file, &value);
		return result == sizeof(value) || result == -EINTR;
	case A_QUEUE:
		result = queue_receive(queue, text, sizeof(text), NULL, now(CLOCK_REALTIME) + WAIT);
		return result == -ETIMEDOUT || result == -EINTR;
	case A_SIGNAL:
		result = call(SYS_rt_sigtimedwait, (long)&set, 0, 0, sizeof(set), 0, 0);
		return result == SIGRTMIN || result == -EINTR;
	default:
		result = service(PILLION_DUAL_SERVICE_SEMAPHORE_WAIT, semaphore, CLOCK_MONOTONIC, now(CLOCK_MONOTONIC) + WAIT, 0);
		return result == -ETIMEDOUT || result == -EINTR;
	}
}

/* Is given back and offered until its budget ends on the way. */
static void hurry(void)
{
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		sleep_until(CLOCK_MONOTONIC, 0);
		to_linux();
	}
}

static void is_victim(void *nothing)
{
	int64_t end;

	(void)nothing;
	prepare(victim->kind);
	for (;;) {
		check(wait_once(victim->kind), "kind %u: wait %u", victim->kind, victim->waits);
		if (victim->waits % 16 == 3)
			hurry();
		end = now(CLOCK_MONOTONIC) + COMPUTATION;
		while (now(CLOCK_MONOTONIC) < end)
			;
		if (victim->waits++ % 2)
			to_linux();
	}
}

/* A process beside it, so that Linux is not idle while the thread waits. */
static void spins(void *nothing)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be_ordinary();
	for (;;)
		(void)nothing;
}

/* How often a thread was in each state when it got a signal, and when it was killed. */
static unsigned int hits[2][STATES];

/* Waits for a time that is different each time. */
static void wait_a_while(void)
{
	static unsigned int number;

	sleep_for(CLOCK_MONOTONIC, (200 + number++ * 37 % 1500) * MICROSECOND, NULL);
}

/* Waits for a state of the thread in which none was hit, if it comes to it soon. */
static void aim(pid_t thread, const unsigned int *in_state)
{
	unsigned int state = 0, i;

	while (state < STATES && in_state[state])
		state++;
	if (state == STATES)
		return;
	for (i = 0; i < AIMS && state_of(thread) != state; i++)
		wait_a_while();
}

/* Sends a signal to the thread at some time. */
static void hit(pid_t thread, int sig)
{
	unsigned int *in_state = hits[sig == SIGKILL];

	wait_a_while();
	if (!is_native) {
		aim(thread, in_state);
		in_state[state_of(thread)]++;
	}
	check(!CALL4(SYS_tgkill, thread, thread, sig, 0), "tgkill");
}

/* A process gets signals, each of which is handled soon, and comes to its end soon. */
static void hunt(void)
{
	unsigned int i, before;
	int64_t begin;
	pid_t child;
	int status;

	victim->waits = victim->handled = 0;
	child = spawn(is_victim, NULL);
	while (victim->waits < 4 && !waitpid(child, &status, WNOHANG))
		usleep(200);
	check(victim->waits >= 4, "kind %u: its status is %#x", victim->kind, status);
	for (i = 0; i < SIGNALS; i++) {
		before = victim->handled;
		begin = now(CLOCK_MONOTONIC);
		hit(child, SIGUSR1);
		while (victim->handled == before && now(CLOCK_MONOTONIC) < begin + SECOND)
			usleep(100);
		check(victim->handled == before + 1, "kind %u: signal %u was handled %u times", victim->kind, i,
		      victim->handled - before);
	}
	begin = now(CLOCK_MONOTONIC);
	hit(child, SIGKILL);
	status = status_of(child);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "kind %u: its status is %#x", victim->kind, status);
	check(now(CLOCK_MONOTONIC) - begin < SECOND, "its end took too long");
}

static void enters(void *nothing)
{
	(void)nothing;
	enter();
	to_primary();
	check(is_native || is_primary(), "no slot is free");
}

void kill_storm(void)
{
	struct sched_param parameters = { .sched_priority = PRIORITY + 10 };
	unsigned int i, kind, state;
	pid_t other;
	int status;

	victim = shared(sizeof(*victim));
	if (!is_native)
		map_slots();
	/* In Linux, before the victims. */
	check(!sched_setscheduler(0, SCHED_FIFO, &parameters), "sched_setscheduler: %s", strerror(errno));
	for (kind = 0; kind < KINDS; kind++) {
		if (is_native && kind == A_SEMAPHORE)
			continue;
		victim->kind = kind;
		for (i = 0; i < VICTIMS; i++) {
			other = i % 4 ? spawn(spins, NULL) : 0;
			hunt();
			if (other) {
				kill(other, SIGKILL);
				status_of(other);
			}
		}
	}
	status = status_of(spawn(enters, NULL));
	check(!status, "its status is %#x", status);
	if (is_native)
		return;
	for (i = 0; i < slot_count; i++)
		check(slots[i].state == PILLION_DUAL_STATE_LINUX, "slot %u is still taken", i);
	for (state = 0; state < STATES; state++)
		tell("%s: %u signals, %u kills", states[state], hits[0][state], hits[1][state]);
	for (state = 0; state < STATES; state++)
		check(hits[0][state] && hits[1][state], "no hit: %s", states[state]);
}
