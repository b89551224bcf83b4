// SPDX-License-Identifier: GPL-2.0-only
/* Tests real-time signals from within Linux. */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <pillion_channel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define MESSAGES 200
/* As many as systems/psc.toml has threads for. */
#define HANDLERS 7

static volatile hrtime_t last;

static void counts(int sig)
{
	struct {
		unsigned int number;
		int sig;
	} message = { ++count, sig };

	last = gethrtime();
	rtf_put(FIFO, &message, sizeof(message));
}

/* A periodic handler whose messages are read through another file. */
static void periodic(void)
{
	struct rtlinux_sigstate state;
	unsigned int message[2], i;
	hrtime_t start;
	int fifo;

	check(!rtf_create(FIFO, 4096), "rtf_create");
	check(rtf_create(FIFO, 4096) < 0, "a FIFO was made twice");
	fifo = pillion_fifo_open(FIFO, O_RDONLY);
	check(fifo >= 0, "the FIFO cannot be opened");
	start = gethrtime();
	handle(RTLINUX_SIGTIMER0, counts, MILLISECOND, RTLINUX_SA_PERIODIC);
	for (i = 1; i <= MESSAGES; i++) {
		check(!pillion_fifo_read(fifo, message, sizeof(message)), "the FIFO cannot be read");
		check(message[0] == i && message[1] == RTLINUX_SIGTIMER0, "another message came");
	}
	check(gethrtime() - start >= MESSAGES * MILLISECOND, "it ran too often");
	check(last > start && last <= gethrtime(), "the handler's time is another");
	state = state_of(RTLINUX_SIGTIMER0);
	check(state.is_active && state.fault == -1 && state.runs >= MESSAGES, "its state");
	check(state.overruns == 0, "it was late");
	check(state.latency_max < MILLISECOND / 10, "it was not at real-time priority");
	handle(RTLINUX_SIGTIMER0, NULL, 0, 0);
	i = count;
	nap(20);
	check(count == i, "it goes on after its end");
	close(fifo);
	check(!rtf_destroy(FIFO), "rtf_destroy");
	check(pillion_fifo_open(FIFO, O_RDONLY) < 0, "the FIFO is still there");
}

static void once(void)
{
	count = 0;
	handle(RTLINUX_SIGTIMER(1), increments, 5 * MILLISECOND, RTLINUX_SA_ONESHOT);
	nap(50);
	check(count == 1, "it did not run once");
	check(!state_of(RTLINUX_SIGTIMER(1)).is_active, "it is active still");
	handle(RTLINUX_SIGTIMER(1), increments, 5 * MILLISECOND, RTLINUX_SA_ONESHOT);
	nap(50);
	check(count == 2, "it did not run once more");
	handle(RTLINUX_SIGTIMER(1), NULL, 0, 0);
}

/* A handler runs even if this process never gives up the processor. */
static void busy(void)
{
	hrtime_t start = gethrtime();

	count = 0;
	handle(RTLINUX_SIGTIMER(2), increments, MILLISECOND, RTLINUX_SA_PERIODIC);
	while (gethrtime() - start < 50 * MILLISECOND)
		;
	check(count >= 40 && count <= 51, "it does not run beside a busy process");
	handle(RTLINUX_SIGTIMER(2), NULL, 0, 0);
}

static void masks(void)
{
	rtlinux_sigset_t set_of_it;

	rtlinux_sigemptyset(&set_of_it);
	rtlinux_sigaddset(&set_of_it, RTLINUX_SIGTIMER(3));
	handle(RTLINUX_SIGTIMER(3), increments, MILLISECOND, RTLINUX_SA_PERIODIC);
	check(!rtlinux_sigprocmask(RTLINUX_SIG_BLOCK, &set_of_it, NULL), "rtlinux_sigprocmask");
	count = 0;
	nap(20);
	check(count == 0, "it runs although it is blocked");
	check(!rtlinux_sigprocmask(RTLINUX_SIG_UNBLOCK, &set_of_it, NULL), "rtlinux_sigprocmask");
	nap(20);
	check(count != 0, "it does not run although it is not blocked");
	handle(RTLINUX_SIGTIMER(3), NULL, 0, 0);
}

/* A signal that came while blocked is due when unblocked, unless its handler has been removed. */
static void held(void)
{
	rtlinux_sigset_t set_of_it;

	rtlinux_sigemptyset(&set_of_it);
	rtlinux_sigaddset(&set_of_it, RTLINUX_SIGTIMER3);
	check(!rtlinux_sigprocmask(RTLINUX_SIG_BLOCK, &set_of_it, NULL), "rtlinux_sigprocmask");
	check(rtlinux_sigismember(&rtlinux_blocked, RTLINUX_SIGTIMER3), "what is blocked");
	count = 0;
	handle(RTLINUX_SIGTIMER3, increments, 2 * MILLISECOND, RTLINUX_SA_ONESHOT);
	nap(20);
	check(count == 0, "it runs although it is blocked");
	check(!rtlinux_sigprocmask(RTLINUX_SIG_UNBLOCK, &set_of_it, NULL), "rtlinux_sigprocmask");
	check(count == 1, "what came while it was blocked has not run");
	check(!rtlinux_sigprocmask(RTLINUX_SIG_SETMASK, &set_of_it, NULL), "rtlinux_sigprocmask");
	handle(RTLINUX_SIGTIMER3, increments, 2 * MILLISECOND, RTLINUX_SA_RESETHAND);
	nap(20);
	handle(RTLINUX_SIGTIMER3, RTLINUX_SIG_IGN, 0, 0);
	check(!rtlinux_sigprocmask(RTLINUX_SIG_UNBLOCK, &set_of_it, NULL), "rtlinux_sigprocmask");
	nap(20);
	check(count == 1, "it runs although its handler has gone");
}

static void touches_nothing(int sig)
{
	(void)sig;
	*(volatile int *)0x1234 = 0;
}

static void calls_linux(int sig)
{
	(void)sig;
	asm volatile("syscall" : : "a" (39) : "rcx", "r11", "memory");
}

static void stays(int sig)
{
	(void)sig;
	for (;;)
		asm volatile("");
}

static void calls_nobody(int sig)
{
	(void)sig;
	asm volatile("vmmcall" : : "a" (1) : "memory");
}

static void interrupts(int sig)
{
	(void)sig;
	asm volatile("int $0x80" : : "a" (1) : "memory");
}

/* A handler that does something forbidden is ended; Linux and other handlers are not. */
static void faults(void)
{
	struct rtlinux_sigstate state;

	count = 0;
	handle(RTLINUX_SIGTIMER(5), increments, MILLISECOND, RTLINUX_SA_PERIODIC);
	state = ends(touches_nothing, 14, "a page fault");
	check(state.address == (void *)0x1234, "another address");
	ends(calls_linux, 6, "a system call");
	ends(interrupts, 13, "an interrupt");
	ends(calls_nobody, PILLION_PSC_REFUSED, "an unknown call");
	ends(stays, PILLION_PSC_TOO_LONG, "a handler that does not return");
	check(state_of(RTLINUX_SIGTIMER(5)).is_active && count > 100, "another handler was ended");
	handle(RTLINUX_SIGTIMER(5), NULL, 0, 0);
}

/* A refused handler leaves nothing running behind, and takes no slot. */
static void refuses(void)
{
	struct rtlinux_sigaction fast = { .sa_handler = increments, .sa_period = 5000 };
	struct rtlinux_sigaction good = { .sa_handler = increments, .sa_period = MILLISECOND };
	struct rtlinux_sigstate state;
	unsigned int i;

	handle(RTLINUX_SIGTIMER(6), increments, MILLISECOND, RTLINUX_SA_PERIODIC);
	nap(20);
	check(rtlinux_sigaction(RTLINUX_SIGTIMER(6), &fast, NULL) < 0 && errno == EINVAL, "a period of 5 us");
	i = count;
	nap(20);
	check(count == i, "a handler runs although another one was refused in its place");
	check(rtlinux_sigstate(RTLINUX_SIGTIMER(6), &state) < 0 && errno == ENOENT, "it is there still");
	for (i = 0; i < HANDLERS; i++)
		handle(RTLINUX_SIGTIMER(i), increments, MILLISECOND, RTLINUX_SA_PERIODIC);
	for (i = 0; i < 3; i++)
		check(rtlinux_sigaction(RTLINUX_SIGTIMER(HANDLERS + i), &good, NULL) < 0 && errno == ENOSPC, "one too many");
	for (i = 0; i < HANDLERS; i++) {
		check(state_of(RTLINUX_SIGTIMER(i)).is_active, "it ended because one was too many");
		handle(RTLINUX_SIGTIMER(i), NULL, 0, 0);
	}
	handle(RTLINUX_SIGTIMER(HANDLERS), increments, MILLISECOND, RTLINUX_SA_PERIODIC);
	handle(RTLINUX_SIGTIMER(HANDLERS), NULL, 0, 0);
}

/* Processes that end, or execute another program, while their handlers run. */
static void leaves(void)
{
	int i, status;
	pid_t child;

	for (i = 0; i < 20; i++) {
		child = fork();
		if (!child) {
			handle(RTLINUX_SIGTIMER0, increments, MILLISECOND / 10, RTLINUX_SA_PERIODIC);
			handle(RTLINUX_SIGTIMER(1), increments, MILLISECOND / 7, RTLINUX_SA_PERIODIC);
			nap(5);
			if (!count)
				_exit(1);
			if (i % 3 == 1)
				abort();
			if (i % 3 == 2)
				execl("/bin/busybox", "true", NULL);
			_exit(i % 3);
		}
		check(child > 0 && waitpid(child, &status, 0) == child, "fork");
		check(i % 3 == 1 ? WIFSIGNALED(status) : WIFEXITED(status) && !WEXITSTATUS(status), "a process with handlers");
	}
}

/* Handlers that run while Linux fails. */
static int stay(void)
{
	handle(RTLINUX_SIGTIMER0, increments, MILLISECOND / 5, RTLINUX_SA_PERIODIC);
	nap(3000);
	check(count > 10000, "it does not run");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "stay"))
		return stay();
	if (argc > 2 && !strcmp(argv[1], "intrude"))
		return intrude(atoi(argv[2]));
	/* First, while this process has no handlers. */
	leaves();
	periodic();
	once();
	busy();
	masks();
	held();
	faults();
	confines();
	refuses();
	closes();
	withstands();
	printf("real-time signals: good\n");
	return 0;
}
