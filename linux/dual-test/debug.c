// SPDX-License-Identifier: GPL-2.0-only
/* SIGXCPU that says why a thread left primary mode, the watchdog, and the freezer. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define PAGE 4096

static volatile sig_atomic_t reason, count;

static void is_told(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	reason = info->si_code == SI_QUEUE ? info->si_int : 0;
	count++;
}

static void nothing(int sig)
{
	(void)sig;
}

static void listen(void)
{
	struct sigaction action = { .sa_sigaction = is_told, .sa_flags = SA_SIGINFO };

	check(!sigaction(SIGXCPU, &action, NULL), "sigaction");
}

static void check_reason(unsigned int wanted)
{
	check(is_native || (count == 1 && (unsigned int)reason == (PILLION_DUAL_DEBUG_MARK | wanted)),
	      "%d signals, the last with %#x, not %u", (int)count, (unsigned int)reason, wanted);
	count = 0;
}

/* Each reason that a thread can cause itself. */
void debugs(void)
{
	struct sigaction action = { .sa_handler = nothing };
	struct itimerspec spec = { .it_value = { 0, 2 * MILLISECOND } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	volatile char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int eax, ebx, ecx, edx;
	timer_t timer;
	int i;

	listen();
	check(!sigaction(SIGALRM, &action, NULL) && !timer_create(CLOCK_MONOTONIC, &event, &timer), "a timer");
	be_real_time();
	munlockall();
	mark(0);
	to_primary();
	madvise((void *)page, PAGE, MADV_DONTNEED);
	mark(PILLION_DUAL_WARN);
	for (i = 0; i < 5; i++) {
		to_primary();
		to_linux();
		check_reason(PILLION_DUAL_DEBUG_CALL);

		to_primary();
		__cpuid(0, eax, ebx, ecx, edx);
		check_reason(PILLION_DUAL_DEBUG_FAULT);

		timer_settime(timer, 0, &spec, NULL);
		check(sleep_for(CLOCK_MONOTONIC, SECOND, NULL) == -EINTR, "clock_nanosleep");
		check_reason(PILLION_DUAL_DEBUG_SIGNAL);
	}
	to_primary();
	*page = 1;
	check_reason(PILLION_DUAL_DEBUG_FAULT);
}

static void *begins(void *counted)
{
	*(int *)counted = count;
	to_primary();
	return NULL;
}

/* Nobody is told of what the C library does before a thread's function, and after it. */
void debugs_begin(void)
{
	struct sched_param parameters = { .sched_priority = PRIORITY - 10 };
	pthread_attr_t attributes;
	pthread_t thread;
	int counted = -1;

	listen();
	be_real_time();
	mark(PILLION_DUAL_WARN);
	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &parameters);
	check(!pthread_create(&thread, &attributes, begins, &counted), "thread");
	pthread_join(thread, NULL);
	check(!counted, "%d signals before the thread's function", counted);
	check(!count, "%d signals after it", (int)count);
}

static pthread_mutex_t mutex;
static volatile bool is_held, is_asked;

/* Owns the mutex in Linux; or in primary mode, until another thread waits for it. */
static void *owns(void *from_primary)
{
	sigset_t set;

	/* It is told of its own way to Linux. */
	sigemptyset(&set);
	sigaddset(&set, SIGXCPU);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (from_primary)
		to_primary();
	check(!pthread_mutex_lock(&mutex), "lock");
	is_held = true;
	while (from_primary && !is_asked)
		sleep_for(CLOCK_MONOTONIC, 100 * MICROSECOND, NULL);
	to_linux();
	usleep(5000);
	check(!pthread_mutex_unlock(&mutex), "unlock");
	return NULL;
}

/* A thread that waits for an owner in Linux, or for one that goes there. */
void debugs_of_owners(void)
{
	pthread_mutexattr_t attributes;
	struct timespec moment = { 0, 100 * MICROSECOND };
	pthread_t owner;
	int i;

	listen();
	be_real_time();
	mark(PILLION_DUAL_WARN);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attributes);
	for (i = 0; i < 4; i++) {
		is_held = is_asked = false;
		owner = begin_thread(i % 2 ? PRIORITY - 10 : 0, owns, i % 2 ? &owner : NULL);
		while (!is_held)
			nanosleep(&moment, NULL);
		to_primary();
		count = 0;
		is_asked = true;
		check(!pthread_mutex_lock(&mutex), "lock");
		check_reason(PILLION_DUAL_DEBUG_INVERSION);
		check(!pthread_mutex_unlock(&mutex), "unlock");
		pthread_join(owner, NULL);
	}
}

static void is_refused(void *context)
{
	struct sched_param parameters = { .sched_priority = PRIORITY };
	struct rlimit memory = { PAGE, PAGE }, priority = { PRIORITY, PRIORITY };

	(void)context;
	listen();
	check(!setrlimit(RLIMIT_MEMLOCK, &memory) && !setrlimit(RLIMIT_RTPRIO, &priority), "setrlimit");
	check(!setgroups(0, NULL) && !setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534), "setresuid");
	mark(PILLION_DUAL_WARN);
	check(!sched_setscheduler(0, SCHED_FIFO, &parameters), "sched_setscheduler: %s", strerror(errno));
	check_reason(PILLION_DUAL_DEBUG_MEMORY);
	to_primary();
	to_linux();
	check(!count, "it is told again, or was in primary mode");
}

/* A process whose memory cannot be pinned is told so once. */
void debugs_of_memory(void)
{
	int status = status_of(spawn(is_refused, NULL));

	check(!status, "its status is %#x", status);
}

/* How a thread runs away: it computes, asks for the time, or sleeps until what has passed. */
enum { COMPUTES, ASKS, IS_LATE, WAYS };

static void runs_away(void *context)
{
	const int *way = context;

	enter();
	to_primary();
	for (;;) {
		if (*way == ASKS)
			now(CLOCK_MONOTONIC);
		if (*way == IS_LATE)
			sleep_until(CLOCK_MONOTONIC, 0);
	}
}

/* The signal of the watchdog ends a process that does not expect it. */
void watchdog(void)
{
	struct pillion_dual_thread thread;
	int way, status;
	int64_t begin;
	pid_t child;

	for (way = 0; way < WAYS && !is_native; way++) {
		begin = now(CLOCK_MONOTONIC);
		child = spawn(runs_away, &way);
		status = status_of(child);
		check(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU, "its status is %#x", status);
		check(now(CLOCK_MONOTONIC) - begin >= 4 * SECOND, "it ended after %lld ns",
		      (long long)(now(CLOCK_MONOTONIC) - begin));
	}
	if (is_native)
		return;
	/* One that waits long is none of its business. */
	listen();
	enter();
	to_primary();
	check(!sleep_for(CLOCK_MONOTONIC, 6 * SECOND, NULL), "clock_nanosleep");
	check(look(gettid(), &thread) && !thread.left[PILLION_DUAL_LEFT_WATCHDOG] && !count, "a sleep is ended");
}

#define GROUPS "/tmp/groups"
#define GROUP GROUPS "/frozen"

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s: %s", file, strerror(errno));
	close(fd);
}

static bool is_frozen(void)
{
	char text[256] = "";
	int fd = open(GROUP "/cgroup.events", O_RDONLY);

	check(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, "cgroup.events: %s", strerror(errno));
	close(fd);
	return strstr(text, "frozen 1");
}

/* The freezer of control groups stops a thread that sleeps or computes, and lets it go on. */
void freezer(void)
{
	struct sleeper *sleeper = shared(sizeof(*sleeper));
	char number[16];
	unsigned int i, j;
	uint64_t counter;
	pid_t child;
	int status;

	mkdir(GROUPS, 0755);
	check(!mount("none", GROUPS, "cgroup2", 0, NULL), "cgroup2: %s", strerror(errno));
	check(!mkdir(GROUP, 0755), "%s: %s", GROUP, strerror(errno));
	for (i = 0; i < 6; i++) {
		child = start(sleeper, i % 3);
		snprintf(number, sizeof(number), "%d", child);
		put(GROUP "/cgroup.procs", number);
		put(GROUP "/cgroup.freeze", "1");
		for (j = 0; j < 1000 && !is_frozen(); j++)
			usleep(1000);
		check(is_frozen(), "it does not freeze");
		check(!sleeper->ends, "it had ended");
		counter = sleeper->counter;
		usleep(150000);
		check(!sleeper->ends && sleeper->counter == counter, "it goes on while it is frozen");
		put(GROUP "/cgroup.freeze", "0");
		status = status_of(child);
		check(!status, "its status is %#x", status);
		check(!sleeper->result, "its sleep's result is %ld", sleeper->result);
		check(sleeper->ends >= sleeper->begins + 150 * MILLISECOND, "it was not frozen");
	}
	check(!rmdir(GROUP) && !umount(GROUPS), "%s: %s", GROUP, strerror(errno));
}
