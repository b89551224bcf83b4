// SPDX-License-Identifier: GPL-2.0-only
/* Which mode a thread is in, why it left it, and who may have it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/futex.h>
#include <pillion_control.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define PAGES 50
#define PAGE 4096

/* What the module knows of the calling thread. */
static struct pillion_dual_thread self(void)
{
	struct pillion_dual_thread thread = { .entries = 0 };

	if (!is_native)
		check(look(gettid(), &thread), "it was never in primary mode");
	return thread;
}

static uint32_t calls_of(const struct pillion_dual_thread *thread, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < PILLION_DUAL_CALLS; i++)
		if (thread->calls[i].count && thread->calls[i].number == number)
			return thread->calls[i].count;
	return 0;
}

/* The first access to a page is Linux's, later ones are nobody's. */
void faults(void)
{
	struct pillion_dual_thread before, between, after;
	volatile char *pages;
	unsigned int i, round;

	enter();
	munlockall();
	pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	/* On the way to primary mode the mapping becomes present; then it is empty again. */
	to_primary();
	madvise((void *)pages, PAGES * PAGE, MADV_DONTNEED);
	before = self();
	for (i = 0; i < PAGES; i++) {
		to_primary();
		check(!pages[i * PAGE + 8], "a new page is not empty");
		pages[i * PAGE + 8] = i + 1;
	}
	to_primary();
	between = self();
	for (round = 0; round < 10; round++) {
		to_primary();
		for (i = 0; i < PAGES; i++) {
			check(pages[i * PAGE + 8] == (char)(i + 1 + round), "another value in page %u", i);
			pages[i * PAGE + 8]++;
		}
	}
	after = self();
	if (is_native)
		return;
	check(between.left[PILLION_DUAL_LEFT_FAULT] - before.left[PILLION_DUAL_LEFT_FAULT] >= PAGES, "%llu faults",
	      (unsigned long long)(between.left[PILLION_DUAL_LEFT_FAULT] - before.left[PILLION_DUAL_LEFT_FAULT]));
	check(after.left[PILLION_DUAL_LEFT_FAULT] - between.left[PILLION_DUAL_LEFT_FAULT] <= 2, "%llu faults more",
	      (unsigned long long)(after.left[PILLION_DUAL_LEFT_FAULT] - between.left[PILLION_DUAL_LEFT_FAULT]));
}

/* Writes to each page in primary mode, and says how many page faults led to Linux for that. */
static uint64_t faults_of_writes(volatile char *pages)
{
	struct pillion_dual_thread before, after;
	unsigned int i;

	before = self();
	to_primary();
	check(is_native || is_primary(), "it is in Linux");
	for (i = 0; i < PAGES; i++)
		pages[i * PAGE + 8]++;
	after = self();
	return is_native ? 0 : after.left[PILLION_DUAL_LEFT_FAULT] - before.left[PILLION_DUAL_LEFT_FAULT];
}

static char *map_pages(unsigned int count, int protection)
{
	char *pages = mmap(NULL, count * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(pages != MAP_FAILED, "mmap: %s", strerror(errno));
	return pages;
}

/* Memory that is mapped after the first look at it, or made writable, causes no fault. */
void faults_of_later(void)
{
	const int usable = PROT_READ | PROT_WRITE;
	char *pages, *grows;
	pid_t child;

	enter();
	to_primary();
	munlockall();
	grows = map_pages(3 * PAGES, PROT_NONE);
	check(!mprotect(grows, PAGES * PAGE, usable), "mprotect: %s", strerror(errno));
	check(!faults_of_writes(grows), "what was mapped before faults");
	pages = map_pages(PAGES, usable);
	check(!faults_of_writes(pages), "what was mapped later faults");
	/* A fork does not take it away. */
	child = fork();
	if (!child)
		_exit(0);
	check(!status_of(child), "the child");
	check(!faults_of_writes(pages), "it faults after a fork");
	/* As the C library has the memory of threads grow. */
	check(!mprotect(grows + PAGES * PAGE, PAGES * PAGE, usable), "mprotect: %s", strerror(errno));
	check(!faults_of_writes(grows + PAGES * PAGE), "what was made writable faults");
	/* What takes the place of another mapping. */
	check(!munmap(pages, PAGES * PAGE), "munmap");
	pages = map_pages(PAGES, usable);
	check(!faults_of_writes(pages), "what replaces a mapping faults");
}

static pid_t seen;

/* Looks at the first thread while it sleeps. */
static void *looks(void *nothing)
{
	struct pillion_dual_thread thread;
	int i, times = 0;

	usleep(100000);
	for (i = 0; i < 20 && !is_native; i++) {
		usleep(10000);
		check(look(seen, &thread), "the thread is not there");
		check(thread.process == (uint32_t)getpid(), "its process is %u", thread.process);
		check(thread.priority == PRIORITY, "its priority is %u", thread.priority);
		check(!strcmp(thread.name, "sleeper"), "its name is %.16s", thread.name);
		times += thread.mode == PILLION_DUAL_PRIMARY;
	}
	check(is_native || times == 20, "it was in primary mode %d times of 20", times);
	return nothing;
}

void modes(void)
{
	struct pillion_dual_thread before, after;
	pthread_t thread;
	uint64_t calls;
	int i;

	seen = gettid();
	check(!pthread_setname_np(pthread_self(), "sleeper"), "pthread_setname_np");
	mark(0);
	check(!pthread_create(&thread, NULL, looks, NULL), "pthread_create");
	be_real_time();
	check(!sleep_for(CLOCK_MONOTONIC, SECOND, NULL), "clock_nanosleep");
	pthread_join(thread, NULL);
	to_primary();
	before = self();
	for (i = 0; i < 150; i++) {
		to_primary();
		CALL0(i % 3 ? SYS_getppid : SYS_getuid);
	}
	after = self();
	if (is_native)
		return;
	check(after.mode == PILLION_DUAL_SECONDARY, "it is in primary mode while it looks");
	calls = after.left[PILLION_DUAL_LEFT_CALL] - before.left[PILLION_DUAL_LEFT_CALL];
	check(calls >= 150 && calls < 160, "%llu calls went to Linux", (unsigned long long)calls);
	check(calls_of(&after, SYS_getppid) >= 100 && calls_of(&after, SYS_getppid) < 105, "%u calls of getppid",
	      calls_of(&after, SYS_getppid));
	check(calls_of(&after, SYS_getuid) >= 50, "%u calls of getuid", calls_of(&after, SYS_getuid));
	check(after.entries - before.entries >= 150, "it entered primary mode %llu times",
	      (unsigned long long)(after.entries - before.entries));
	check(after.answered - before.answered >= 150 && after.waits - before.waits >= 150, "%llu answers, %llu waits",
	      (unsigned long long)(after.answered - before.answered), (unsigned long long)(after.waits - before.waits));
	check(after.primary_ns > before.primary_ns, "it used no processor time in primary mode");
}

/* What is known of a thread that stays in primary mode, as of now. */
static struct pillion_dual_thread live(pid_t number)
{
	int tasks = open(PILLION_DEVICE, O_RDONLY | O_CLOEXEC);
	struct pillion_dual_thread thread;

	check(tasks >= 0 && !ioctl(tasks, PILLION_IOC_REFRESH), PILLION_DEVICE ": %s", strerror(errno));
	close(tasks);
	check(look(number, &thread), "the thread is not there");
	check(thread.mode == PILLION_DUAL_PRIMARY, "it is in Linux");
	return thread;
}

#define LIVE_TURNS 400

static volatile pid_t turner;

/* Every other wait is for a time that has passed; some turns take longer than the budget lasts. */
static void *turns(void *nothing)
{
	int64_t next = now(CLOCK_MONOTONIC), until;
	unsigned int i;

	turner = gettid();
	for (i = 0; i < LIVE_TURNS; i++) {
		next += MILLISECOND;
		sleep_until(CLOCK_MONOTONIC, next);
		sleep_until(CLOCK_MONOTONIC, next - MILLISECOND);
		until = now(CLOCK_MONOTONIC) + (i % 4 ? 20 : 400) * MICROSECOND;
		while (now(CLOCK_MONOTONIC) < until)
			;
	}
	pthread_setname_np(pthread_self(), "turned");
	to_primary();
	return nothing;
}

/* The counts of a thread grow while it stays in primary mode, and go on when it leaves. */
void counts_live(void)
{
	struct pillion_dual_thread first, second, last;
	pthread_t thread;

	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s", strerror(errno));
	thread = begin_thread(PRIORITY, turns, NULL);
	usleep(100000);
	if (is_native) {
		pthread_join(thread, NULL);
		return;
	}
	first = live(turner);
	usleep(100000);
	second = live(turner);
	pthread_join(thread, NULL);
	check(look(turner, &last), "the thread that has ended is not there");
	check(!strcmp(last.name, "turned"), "its last name was %.16s", last.name);
	check(second.entries == first.entries, "it entered primary mode %llu times, then %llu",
	      (unsigned long long)first.entries, (unsigned long long)second.entries);
	check(first.primary_ns >= MILLISECOND, "%llu ns", (unsigned long long)first.primary_ns);
	check(first.overruns && first.exhausted && first.latency_max_ns, "%llu overruns, %llu budgets, %llu ns",
	      (unsigned long long)first.overruns, (unsigned long long)first.exhausted,
	      (unsigned long long)first.latency_max_ns);
	check(second.overruns > first.overruns && second.exhausted > first.exhausted &&
	      second.primary_ns > first.primary_ns && second.latency_max_ns >= first.latency_max_ns,
	      "counts do not grow");
	check(last.overruns >= LIVE_TURNS && last.exhausted >= second.exhausted &&
	      last.primary_ns >= second.primary_ns && last.primary_ns < 2 * SECOND / 5,
	      "%llu overruns, %llu budgets, %llu ns in the end", (unsigned long long)last.overruns,
	      (unsigned long long)last.exhausted, (unsigned long long)last.primary_ns);
}

static void nothing(int sig)
{
	(void)sig;
}

/* Signals bring a thread back to Linux, and a mark that is removed keeps it there. */
void recalled(void)
{
	struct sigaction action = { .sa_handler = nothing };
	struct pillion_dual_thread before, after;
	struct itimerspec spec = { .it_value = { 0, 2 * MILLISECOND } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	timer_t timer;
	int i;

	enter();
	check(!sigaction(SIGALRM, &action, NULL) && !timer_create(CLOCK_MONOTONIC, &event, &timer), "a timer");
	to_primary();
	before = self();
	for (i = 0; i < 20; i++) {
		check(!timer_settime(timer, 0, &spec, NULL), "timer_settime");
		check(sleep_for(CLOCK_MONOTONIC, SECOND, NULL) == -EINTR, "clock_nanosleep");
	}
	after = self();
	if (is_native)
		return;
	check(after.left[PILLION_DUAL_LEFT_RECALL] - before.left[PILLION_DUAL_LEFT_RECALL] >= 20, "%llu recalls",
	      (unsigned long long)(after.left[PILLION_DUAL_LEFT_RECALL] - before.left[PILLION_DUAL_LEFT_RECALL]));
	check(!ioctl(device, PILLION_IOC_DUAL_UNMARK), "unmark: %s", strerror(errno));
	before = self();
	to_primary();
	after = self();
	check(after.entries == before.entries, "it enters primary mode without a mark");
}

static long results[3];

/* Sleeps, either for a time or until one. */
static void *sleeps(void *result)
{
	long *to = result;

	be_real_time();
	to_primary();
	*to = to - results == 1 ? sleep_until(CLOCK_MONOTONIC, now(CLOCK_MONOTONIC) + 100 * MILLISECOND) :
				  sleep_for(CLOCK_MONOTONIC, 100 * MILLISECOND, NULL);
	return NULL;
}

/* Threads that sleep when their process loses its mark sleep on in Linux. */
void unmarked(void)
{
	int64_t begin;
	unsigned int i;

	mark(0);
	for (i = 0; i < COUNT(results); i++) {
		pthread_t thread;

		begin = now(CLOCK_MONOTONIC);
		check(!pthread_create(&thread, NULL, sleeps, &results[i]), "pthread_create");
		sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL);
		check(is_native || !ioctl(device, PILLION_IOC_DUAL_UNMARK), "unmark: %s", strerror(errno));
		pthread_join(thread, NULL);
		check(!results[i], "the sleep's result is %ld", results[i]);
		check(now(CLOCK_MONOTONIC) - begin >= 100 * MILLISECOND, "the sleep was too short");
		mark(0);
	}
}

static volatile sig_atomic_t warnings;

static void is_warned(int sig)
{
	(void)sig;
	warnings++;
}

/* A switch to Linux sends a signal, if the mark says so. */
void warns(void)
{
	struct sigaction action = { .sa_handler = is_warned };
	int i;

	check(!sigaction(SIGXCPU, &action, NULL), "sigaction");
	mark(PILLION_DUAL_WARN);
	be_real_time();
	for (i = 1; i <= 20; i++) {
		to_primary();
		to_linux();
		check(is_native || warnings >= i, "%d warnings after %d switches", warnings, i);
	}
	mark(0);
	to_primary();
	i = warnings;
	to_primary();
	to_linux();
	check(warnings == i, "warnings without the flag");
}

static void cannot_mark(void *limit)
{
	struct pillion_dual_mark mark = { .flags = 0 };
	struct rlimit priority = { *(rlim_t *)limit, *(rlim_t *)limit };

	check(!setrlimit(RLIMIT_RTPRIO, &priority), "setrlimit: %s", strerror(errno));
	check(!setgroups(0, NULL) && !setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534), "setresuid");
	if (*(rlim_t *)limit)
		check(!ioctl(device, PILLION_IOC_DUAL_MARK, &mark), "a mark with RLIMIT_RTPRIO: %s", strerror(errno));
	else
		check(ioctl(device, PILLION_IOC_DUAL_MARK, &mark) < 0 && errno == EPERM, "a mark without rights");
}

/* Members of the device's group may open it, and no other ordinary user. */
static void opens(void *member)
{
	struct stat stat_of;
	gid_t group;
	int file;

	check(!stat(PILLION_DUAL_DEVICE, &stat_of), "stat: %s", strerror(errno));
	group = stat_of.st_gid;
	check(group && (stat_of.st_mode & 0777) == 0660, "group %u, mode %o", group, stat_of.st_mode);
	check(!setgroups(member ? 1 : 0, &group) && !setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534),
	      "setresuid");
	file = open(PILLION_DUAL_DEVICE, O_RDWR);
	check(member ? file >= 0 : errno == EACCES, "opened: %d, %s", file, strerror(errno));
}

void permissions(void)
{
	struct pillion_dual_mark unknown = { .flags = ~0u }, strange = { .clear = ~0u };
	rlim_t limit;
	int status;

	if (is_native)
		return;
	for (limit = 0; limit <= 10; limit += 10) {
		status = status_of(spawn(cannot_mark, &limit));
		check(!status, "a process's status is %#x", status);
	}
	status = status_of(spawn(opens, NULL));
	check(!status, "the status of one who may not open the device is %#x", status);
	status = status_of(spawn(opens, &limit));
	check(!status, "the status of one who may is %#x", status);
	check(ioctl(device, PILLION_IOC_DUAL_MARK, &unknown) < 0 && errno == EINVAL, "a mark with unknown flags");
	check(ioctl(device, PILLION_IOC_DUAL_MARK, &strange) < 0 && errno == EINVAL, "a mark without unknown flags");
	check(ioctl(device, PILLION_IOC_DUAL_MARK, NULL) < 0 && errno == EFAULT, "a mark from nowhere");
	check(ioctl(device, PILLION_IOC_DUAL_LOOK, NULL) < 0 && errno == EFAULT, "a look to nowhere");
}

/* What another user's program is, and how it is called. */
struct other {
	mode_t mode;
	const char *name;
};

#define OTHER "/tmp/dual-other"

/* A marked process without rights executes it. */
static void executes_other(void *context)
{
	const struct rlimit memory = { RLIM_INFINITY, RLIM_INFINITY }, priority = { 99, 99 };
	const struct other *other = context;

	check(!setrlimit(RLIMIT_MEMLOCK, &memory) && !setrlimit(RLIMIT_RTPRIO, &priority), "setrlimit");
	check(!setgroups(0, NULL) && !setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534), "setresuid");
	mark(0);
	execl(OTHER, "dual-test", other->name, NULL);
	fail(__FILE__, __LINE__, "execl: %s", strerror(errno));
}

/* It gives up what it gained, if anything, and tries to enter primary mode. */
int other(bool has_gained)
{
	check(has_gained == !geteuid(), "its user is %d", geteuid());
	check(!setresuid(65534, 65534, 65534), "setresuid: %s", strerror(errno));
	be_real_time();
	to_primary();
	return is_primary() == has_gained;
}

/* A mark is for what its process may do: a set-user-ID program does not have it. */
void set_user_id(void)
{
	static const struct other others[] = { { 0755, "other" }, { 04755, "gained" } };
	char command[64];
	unsigned int i;
	int status;

	if (is_native)
		return;
	snprintf(command, sizeof(command), "cp /proc/%d/exe " OTHER, getpid());
	check(!system(command), "%s", command);
	for (i = 0; i < COUNT(others); i++) {
		check(!chmod(OTHER, others[i].mode), "chmod: %s", strerror(errno));
		status = status_of(spawn(executes_other, (void *)&others[i]));
		check(!status, "the status of the program with mode %o is %#x", others[i].mode, status);
	}
	unlink(OTHER);
}

#define KEEPERS 32
#define KEPT 16

/* Nanoseconds of a call that is looked up, in a process with a mark. */
static int64_t cost_of_call(void)
{
	unsigned int word = 0, i;
	int64_t begin = now(CLOCK_MONOTONIC);

	for (i = 0; i < 2000; i++)
		call(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	return (now(CLOCK_MONOTONIC) - begin) / 2000;
}

/* Processes that have ended, and that open files still tell of, make no call longer. */
void ended_many(void)
{
	struct pillion_dual_mark flags = { .flags = 0 };
	int keepers[KEEPERS], i, status;
	int64_t before, after;

	if (is_native)
		return;
	mark(0);
	before = cost_of_call();
	for (i = 0; i < KEEPERS * KEPT; i++) {
		pid_t child;

		if (i < KEEPERS)
			keepers[i] = open(PILLION_DUAL_DEVICE, O_RDWR | O_CLOEXEC);
		child = fork();
		if (!child)
			_exit(ioctl(keepers[i % KEEPERS], PILLION_IOC_DUAL_MARK, &flags) ? 1 : 0);
		check(child > 0 && waitpid(child, &status, 0) == child && !status, "a child: %#x", status);
	}
	mark(0);
	after = cost_of_call();
	tell("a call takes %lld ns, then %lld ns", (long long)before, (long long)after);
	check(after < before * 5 / 4, "a call takes %lld ns, then %lld ns", (long long)before, (long long)after);
}

/* A thread is in primary mode for three seconds, in which Linux may fail. */
int stay(void)
{
	const unsigned int turns = 15000;
	struct pillion_dual_thread thread;
	int64_t next;
	unsigned int i;

	enter();
	next = now(CLOCK_MONOTONIC);
	for (i = 0; i < turns; i++) {
		next += 200 * MICROSECOND;
		check(!sleep_until(CLOCK_MONOTONIC, next), "clock_nanosleep");
	}
	check(look(gettid(), &thread), "it was never in primary mode");
	check(thread.entries == 1 && thread.waits >= turns, "it was in primary mode %llu times, and waited %llu times",
	      (unsigned long long)thread.entries, (unsigned long long)thread.waits);
	return 0;
}

/* Periods that the thread goes on for when it knows that Linux is dead. */
#define PERIODS_DEAD 5000
#define PERIOD (100 * MICROSECOND)

/*
 * A thread with a period until Linux is dead, and on for a while: what a program would do to leave
 * its machine in a safe state. What it then needs of Linux ends it, and shows in the log: `getppid`
 * if all was well.
 */
int outlive(void)
{
	unsigned int overruns = 0, dead = 0, i;
	int64_t next;

	enter();
	check(pillion_dual_linux() == PILLION_DUAL_LINUX_LIVES, "Linux is dead, it says itself");
	next = now(CLOCK_MONOTONIC);
	for (i = 0; i < 100000 && dead < PERIODS_DEAD; i++) {
		next += PERIOD;
		check(!sleep_until(CLOCK_MONOTONIC, next), "clock_nanosleep");
		dead += pillion_dual_linux() != PILLION_DUAL_LINUX_LIVES;
		overruns += dead && now(CLOCK_MONOTONIC) >= next + PERIOD;
	}
	check(dead, "Linux has not died");
	CALL0(overruns ? SYS_getuid : SYS_getppid);
	return 0;
}
