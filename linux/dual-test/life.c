// SPDX-License-Identifier: GPL-2.0-only
/* Processes and threads that begin and end in primary mode. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static void *exits(void *nothing)
{
	(void)nothing;
	usleep(20000);
	CALL2(SYS_exit_group, 5, 0);
	return NULL;
}

static void *sleeps_long(void *nothing)
{
	to_primary();
	sleep_for(CLOCK_MONOTONIC, 100 * SECOND, NULL);
	return nothing;
}

/* One thread computes or sleeps, others sleep; an ordinary one ends the process. */
static void is_ended(void *context)
{
	pthread_t thread;
	int i;

	mark(0);
	check(!pthread_create(&thread, NULL, exits, NULL), "pthread_create");
	be_real_time();
	for (i = 0; i < 3; i++)
		check(!pthread_create(&thread, NULL, sleeps_long, NULL), "pthread_create");
	to_primary();
	if (*(int *)context)
		for (;;)
			now(CLOCK_MONOTONIC);
	sleeps_long(NULL);
}

void exit_of_another(void)
{
	int i, kind, status;

	for (i = 0; i < 10; i++) {
		kind = i % 2;
		status = status_of(spawn(is_ended, &kind));
		check(WIFEXITED(status) && WEXITSTATUS(status) == 5, "its status is %#x", status);
	}
}

/* As many threads as can be in primary mode. */
#define MOST 8

/* How far the process is whose threads occupy all places. */
enum { BEGINS, OCCUPIES, IS_TO_LEAVE, HAS_LEFT };

/* How many threads are in primary mode. */
static unsigned int count_primary(void)
{
	struct pillion_dual_look look = { .index = 0 };
	unsigned int count = 0;

	for (; !ioctl(device, PILLION_IOC_DUAL_LOOK, &look); look.index++)
		count += look.thread.mode == PILLION_DUAL_PRIMARY;
	return count;
}

/* Its threads sleep in primary mode; when it takes its mark away, they sleep on in Linux. */
static void occupies(void *context)
{
	volatile int *state = context;
	int i;

	mark(0);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	for (i = 0; i < MOST; i++)
		begin_thread(PRIORITY, sleeps_long, NULL);
	while (count_primary() < MOST)
		usleep(1000);
	*state = OCCUPIES;
	while (*state != IS_TO_LEAVE)
		usleep(1000);
	check(!ioctl(device, PILLION_IOC_DUAL_UNMARK), "unmark: %s", strerror(errno));
	*state = HAS_LEFT;
	pause();
}

/* Threads whose sleep goes on in Linux leave room for others. */
void room(void)
{
	volatile int *state = shared(sizeof(*state));
	pid_t child;

	if (is_native)
		return;
	child = spawn(occupies, (void *)state);
	while (*state != OCCUPIES)
		usleep(1000);
	enter();
	to_primary();
	check(!is_primary(), "there is room for more than %d threads", MOST);
	*state = IS_TO_LEAVE;
	while (*state != HAS_LEFT)
		usleep(1000);
	to_primary();
	check(is_primary(), "there is no room while others sleep in Linux");
	kill(child, SIGKILL);
	status_of(child);
}

/* Memory of a parent and its child is not the same after fork. */
void forks(void)
{
	volatile int *value = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pillion_dual_thread thread;
	int i, status;
	pid_t child;

	enter();
	for (i = 0; i < 100; i++) {
		*value = i;
		to_primary();
		child = fork();
		if (!child) {
			check(is_native || (!is_primary() && !look(getpid(), &thread)), "the child begins in primary mode");
			check(*value == i, "the child's memory");
			to_primary();
			*value = 1000;
			_exit(i % 100);
		}
		check(child > 0, "fork: %s", strerror(errno));
		to_primary();
		check(*value == i, "the parent's memory");
		*value = 2000 + i;
		to_primary();
		check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == i % 100,
		      "the child's status is %#x", status);
		check(*value == 2000 + i, "the child wrote to the parent's memory");
	}
	check_entries(100);
}

static void *adds(void *sum)
{
	struct pillion_dual_thread thread;
	int i;

	check(is_native || (!is_primary() && !look(gettid(), &thread)), "a thread begins in primary mode");
	for (i = 0; i < 10; i++) {
		to_primary();
		__atomic_add_fetch((int *)sum, 1, __ATOMIC_RELAXED);
	}
	check_entries(1);
	return sum;
}

/* Threads that are made in primary mode inherit the policy, and so the mode. */
void threads(void)
{
	pthread_t threads[8];
	int i, round, sum = 0;
	void *result;

	enter();
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 8; i++) {
			to_primary();
			check(!pthread_create(&threads[i], NULL, adds, &sum), "pthread_create");
		}
		for (i = 0; i < 8; i++)
			check(!pthread_join(threads[i], &result) && result == &sum, "pthread_join");
	}
	check(sum == 800, "the sum is %d", sum);
}

int executed(void)
{
	struct timespec time;

	return sleep_for(CLOCK_MONOTONIC, MILLISECOND, NULL) || CALL2(SYS_clock_gettime, CLOCK_MONOTONIC, &time) ||
	       getpid() != gettid() ? 8 : 7;
}

static void *executes_itself(void *nothing)
{
	(void)nothing;
	to_primary();
	execl("/proc/self/exe", "dual-test", "executed", NULL);
	fail(__FILE__, __LINE__, "execl: %s", strerror(errno));
}

/* The first thread or another one executes a program while all are in primary mode. */
static void is_replaced(void *context)
{
	pthread_t thread;
	int i;

	enter();
	for (i = 0; i < 3; i++)
		check(!pthread_create(&thread, NULL, sleeps_long, NULL), "pthread_create");
	to_primary();
	if (!*(int *)context)
		executes_itself(NULL);
	check(!pthread_create(&thread, NULL, executes_itself, NULL), "pthread_create");
	sleeps_long(NULL);
}

void executes(void)
{
	int i, kind, status;

	for (i = 0; i < 10; i++) {
		kind = i % 2;
		status = status_of(spawn(is_replaced, &kind));
		check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "its status is %#x", status);
	}
}

/* Kilobytes of this process that are locked. */
static int locked(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	int kilobytes = -1;
	char line[128];

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmLck: %d", &kilobytes) == 1)
			break;
	return kilobytes;
}

/* The vDSO's own reader of the processor's number, which this program's C library does not use. */
static void check_getcpu(void)
{
	void *found = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	long (*getcpu)(unsigned int *, unsigned int *, void *);
	unsigned int processor = ~0U, node = ~0U;

	check(found, "the vDSO: %s", dlerror());
	getcpu = dlvsym(found, "__vdso_getcpu", "LINUX_2.6");
	check(getcpu, "__vdso_getcpu: %s", dlerror());
	to_primary();
	check(!getcpu(&processor, &node, NULL), "getcpu");
	check(processor < 4096 && !node, "processor %u, node %u", processor, node);
	check(is_primary(), "getcpu leads to Linux");
}

int prepared(void)
{
	struct sched_param parameters = { .sched_priority = PRIORITY };
	int i;

	check(getauxval(AT_SYSINFO_EHDR), "it has no vDSO");
	check(locked() > 0, "%d KB are locked", locked());
	check(waitpid(-1, NULL, 0) < 0 && errno == ECHILD, "it has a child");
	check(!sched_setscheduler(0, SCHED_FIFO, &parameters), "sched_setscheduler: %s", strerror(errno));
	for (i = 0; i < 100; i++)
		to_primary();
	check_getcpu();
	check_time();
	device = open(PILLION_DUAL_DEVICE, O_RDWR | O_CLOEXEC);
	check(device >= 0, "%s: %s", PILLION_DUAL_DEVICE, strerror(errno));
	check_entries(1);
	return 7;
}

static void executes_pillion(void *option)
{
	char self[256];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	check(length > 0, "readlink: %s", strerror(errno));
	self[length] = '\0';
	execlp("pillion", "pillion", "exec", option, self, "prepared", NULL);
	fail(__FILE__, __LINE__, "pillion: %s", strerror(errno));
}

/* A program that knows nothing of dual mode, with and without a report about it. */
void prepares(void)
{
	static char *const options[] = { "--", "--report" };
	int i, status;

	for (i = 0; i < 10 && !is_native; i++) {
		status = status_of(spawn(executes_pillion, options[i % 2]));
		check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "its status is %#x", status);
	}
}

static sigjmp_buf after;
static siginfo_t info;

static void leaves(int sig, siginfo_t *got, void *context)
{
	(void)sig;
	(void)context;
	info = *got;
	siglongjmp(after, 1);
}

static char *read_only;

static void writes_null(void) { *(volatile char *)NULL = 1; }
static void reads_low(void) { (void)*(volatile char *)0x1234; }
static void writes_read_only(void) { *(volatile char *)(read_only + 5) = 1; }
static void executes_data(void) { ((void (*)(void))read_only)(); }
static void reads_kernel(void) { (void)*(volatile char *)0xffffffff81000000; }
static void reads_nowhere(void) { (void)*(volatile char *)0x8000000000000000; }
static void divides(void) { asm volatile("div %0" : : "r" (0), "a" (1), "d" (0)); }
static void is_undefined(void) { asm volatile("ud2"); }
static void breaks(void) { asm volatile("int3"); }

/* Exceptions in primary mode arrive as Linux's signals. */
void exceptions(void)
{
	static const struct {
		const char *name;
		void (*raise)(void);
		int sig, code;
		/* SIZE_MAX: another. */
		size_t address;
	} cases[] = {
		{ "a write to NULL", writes_null, SIGSEGV, SEGV_MAPERR, 0 },
		{ "a read of 0x1234", reads_low, SIGSEGV, SEGV_MAPERR, 0x1234 },
		{ "a write to a page that is read-only", writes_read_only, SIGSEGV, SEGV_ACCERR, SIZE_MAX },
		{ "a jump to data", executes_data, SIGSEGV, SEGV_ACCERR, SIZE_MAX },
		{ "a read of the kernel", reads_kernel, SIGSEGV, SEGV_MAPERR, 0xffffffff81000000 },
		{ "a read of no address", reads_nowhere, SIGSEGV, SI_KERNEL, 0 },
		{ "a division by 0", divides, SIGFPE, FPE_INTDIV, SIZE_MAX },
		{ "UD2", is_undefined, SIGILL, ILL_ILLOPN, SIZE_MAX },
		{ "INT3", breaks, SIGTRAP, SI_KERNEL, SIZE_MAX },
	};
	struct sigaction action = { .sa_sigaction = leaves, .sa_flags = SA_SIGINFO };
	volatile unsigned int i, round;

	read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < COUNT(cases); i++)
		check(!sigaction(cases[i].sig, &action, NULL), "sigaction");
	enter();
	for (round = 0; round < 10; round++) {
		for (i = 0; i < COUNT(cases); i++) {
			memset(&info, 0, sizeof(info));
			to_primary();
			if (!sigsetjmp(after, 1))
				cases[i].raise();
			check(info.si_signo == cases[i].sig, "%s: signal %d", cases[i].name, info.si_signo);
			check(info.si_code == cases[i].code, "%s: code %d", cases[i].name, info.si_code);
			check(cases[i].address == SIZE_MAX || info.si_addr == (void *)cases[i].address, "%s: address %p",
			      cases[i].name, info.si_addr);
		}
	}
	check_entries(10);
}
