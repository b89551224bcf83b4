// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that traces its grandparent from before execve until the new program's first
 * instruction.
 *
 * - It makes the vDSO fit for primary mode, or takes it away: then clock_gettime is a system call.
 * - It makes the program call mlockall.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <pillion_dual.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prepare.h"
#include "vdso.h"

/* Code segment of 64-bit programs. */
#define CODE_64 0x33
/* The instruction SYSCALL, and the bits of a word that it takes. */
#define SYSCALL 0x050fu
#define SYSCALL_BITS 0xffffu
/* Bit of CAP_IPC_LOCK in /proc/PID/status. */
#define IPC_LOCK (1ull << 14)
/* A stop at a system call's end, by PTRACE_O_TRACESYSGOOD. */
#define CALL_STOP (SIGTRAP | 0x80)
/* Size of the kernel's signal masks. */
#define MASK_BYTES 8

#define OPTIONS (PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)

static void unlocked(const char *program, const char *why)
{
	fprintf(stderr, "pillion: the memory of %s is not locked: %s; allow it with `ulimit -l unlimited` (limits.conf),"
		" or CAP_IPC_LOCK\n", program, why);
}

/* Waits until the process stops; returns the signal and the event, or 0 if it has ended. */
static int stop_of(pid_t process)
{
	int status;

	return waitpid(process, &status, __WALL) == process && WIFSTOPPED(status) ? status >> 8 : 0;
}

/* Lets the process run until it stops again. */
static int go(pid_t process, int request, int sig)
{
	return ptrace(request, process, NULL, (void *)(long)sig) ? 0 : stop_of(process);
}

/* Waits until the process has executed the program. Signals reach it. */
static bool executes(pid_t process)
{
	int stop = stop_of(process);

	while (stop && stop != (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
		if (stop >> 8 != PTRACE_EVENT_STOP)
			stop = go(process, PTRACE_CONT, stop);
		else
			stop = go(process, (stop & 0xff) == SIGTRAP ? PTRACE_CONT : PTRACE_LISTEN, 0);
	}
	return stop;
}

/*
 * Lets the process run until a stop, or ends it. Signals are blocked but for SIGSTOP, which is kept
 * for later in `held`.
 */
static bool go_until(pid_t process, int request, int wanted, int *held)
{
	int stop = go(process, request, 0);

	while (stop && stop != wanted) {
		if (stop == SIGSTOP)
			*held = SIGSTOP;
		stop = go(process, request, 0);
	}
	return stop;
}

/* Whether the vDSO can be used in primary mode. */
static bool has_vdso(void)
{
	FILE *file = fopen(PILLION_DUAL_VDSO, "re");
	bool has = file && fgetc(file) == '1';

	if (file)
		fclose(file);
	return has;
}

/*
 * Where the auxiliary vector, which follows the arguments and the environment, has the kind of the
 * entry for the vDSO; 0: it has none.
 */
static uint64_t vdso_entry(pid_t process, uint64_t stack)
{
	uint64_t words = (uint64_t)ptrace(PTRACE_PEEKDATA, process, stack, NULL) + 1, at = stack + 8 * words;
	long kind;

	do {
		at += 8;
		errno = 0;
	} while (ptrace(PTRACE_PEEKDATA, process, at, NULL) && !errno);
	for (at += 8; !errno; at += 16) {
		kind = ptrace(PTRACE_PEEKDATA, process, at, NULL);
		if (!errno && kind == AT_SYSINFO_EHDR)
			return at;
		if (kind == AT_NULL)
			break;
	}
	return 0;
}

/* Has a function of the vDSO make its system call. The process gets its own copy of that page. */
static bool replace(pid_t process, uint64_t vdso, const char *name, unsigned int number)
{
	/* mov $number, %eax; syscall; ret */
	unsigned char code[] = { 0xb8, number & 0xff, number >> 8, 0, 0, 0x0f, 0x05, 0xc3 };
	uint64_t function = vdso_function(name);
	long word;

	memcpy(&word, code, sizeof(word));
	return function && !ptrace(PTRACE_POKETEXT, process, vdso + function, (void *)word);
}

/*
 * The vDSO's getcpu looks for the number in a table of segments, which threads in primary mode do
 * not have. Its time is that of Linux's last tick, and there is none while Linux is idle, or dead.
 */
static bool replace_functions(pid_t process, uint64_t vdso)
{
	return replace(process, vdso, "__vdso_getcpu", SYS_getcpu) && replace(process, vdso, "__vdso_time", SYS_time);
}

/* Makes the vDSO fit for primary mode, or takes it out of the auxiliary vector. */
static void adjust_vdso(pid_t process, uint64_t stack)
{
	uint64_t entry = vdso_entry(process, stack), vdso = 0;

	if (entry)
		vdso = ptrace(PTRACE_PEEKDATA, process, entry + 8, NULL);
	if (vdso && !(has_vdso() && replace_functions(process, vdso)))
		ptrace(PTRACE_POKEDATA, process, entry, (void *)AT_IGNORE);
}

/*
 * Whether the process may lock all that it will ever have. If there is a limit, mlockall may
 * succeed now, and mmap fail later for that reason.
 */
static bool may_lock(pid_t process)
{
	unsigned long long capabilities = 0;
	struct rlimit limit;
	char line[256];
	FILE *status;

	if (!prlimit(process, RLIMIT_MEMLOCK, NULL, &limit) && limit.rlim_cur == RLIM_INFINITY)
		return true;
	snprintf(line, sizeof(line), "/proc/%d/status", process);
	status = fopen(line, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "CapEff: %llx", &capabilities) == 1)
			break;
	if (status)
		fclose(status);
	return capabilities & IPC_LOCK;
}

/*
 * Makes the process call mlockall, with its first instructions replaced by SYSCALL; returns its
 * result, or a negative error number. The process is at the end of execve.
 */
static long lock(pid_t process, const struct user_regs_struct *before, int *held)
{
	struct user_regs_struct registers = *before;
	long code, result = -EIO;

	errno = 0;
	code = ptrace(PTRACE_PEEKTEXT, process, before->rip, NULL);
	if (errno || ptrace(PTRACE_POKETEXT, process, before->rip, (void *)((code & ~(long)SYSCALL_BITS) | SYSCALL)))
		return -EFAULT;
	registers.orig_rax = -1;
	registers.rax = SYS_mlockall;
	registers.rdi = MCL_CURRENT | MCL_FUTURE;
	if (!ptrace(PTRACE_SETREGS, process, NULL, &registers) &&
	    go_until(process, PTRACE_SINGLESTEP, SIGTRAP, held) && !ptrace(PTRACE_GETREGS, process, NULL, &registers))
		result = registers.rax;
	/* If one of these fails, the process is no more. */
	ptrace(PTRACE_POKETEXT, process, before->rip, (void *)code);
	ptrace(PTRACE_SETREGS, process, NULL, before);
	return result;
}

/* Prepares the new program before its first instruction, if it is 64-bit. */
static void adjust(pid_t process, const char *program, int *held)
{
	struct user_regs_struct registers;
	long result;

	/* Registers can be set once execve is over. */
	if (!go_until(process, PTRACE_SYSCALL, CALL_STOP, held) || ptrace(PTRACE_GETREGS, process, NULL, &registers))
		return;
	if (registers.cs != CODE_64)
		return;
	adjust_vdso(process, registers.rsp);
	if (!may_lock(process)) {
		unlocked(program, "RLIMIT_MEMLOCK");
		return;
	}
	result = lock(process, &registers, held);
	if (result)
		unlocked(program, strerror(-result));
}

static void trace(pid_t process, const char *program)
{
	uint64_t mask, all = ~0ull;
	int held = 0;

	if (!executes(process) || ptrace(PTRACE_GETSIGMASK, process, MASK_BYTES, &mask))
		return;
	ptrace(PTRACE_SETSIGMASK, process, MASK_BYTES, &all);
	adjust(process, program, &held);
	ptrace(PTRACE_SETSIGMASK, process, MASK_BYTES, &mask);
	ptrace(PTRACE_DETACH, process, NULL, (void *)(long)held);
}

/*
 * The tracer: a grandchild, so that the program has no child that it does not know. It tells its
 * number, waits for the permission to trace, and tells whether it does.
 */
static void run_tracer(pid_t process, const char *program, int in, int out)
{
	pid_t self;
	int error;
	char go_on;

	if (fork())
		_exit(0);
	self = getpid();
	if (write(out, &self, sizeof(self)) != sizeof(self) || read(in, &go_on, 1) != 1)
		_exit(1);
	error = ptrace(PTRACE_SEIZE, process, NULL, (void *)OPTIONS) ? errno : 0;
	if (write(out, &error, sizeof(error)) != sizeof(error) || error)
		_exit(1);
	close(in);
	close(out);
	trace(process, program);
	_exit(0);
}

/* Waits until the tracer traces this process; returns an error number. */
static int be_traced(int in, int out)
{
	pid_t tracer;
	int error;

	if (read(in, &tracer, sizeof(tracer)) != sizeof(tracer))
		return EAGAIN;
	/* Only Yama asks for it, and forgets it when the tracer ends. */
	prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
	if (write(out, "", 1) != 1 || read(in, &error, sizeof(error)) != sizeof(error))
		return EAGAIN;
	return error;
}

/* Starts the tracer, with pipes in both directions; returns an error number. */
static int start(const char *program, int down[2], int up[2])
{
	pid_t process = getpid(), child;
	sigset_t all, before;
	int error;

	sigfillset(&all);
	/* What the terminal sends to all does not concern the tracer. */
	sigprocmask(SIG_SETMASK, &all, &before);
	child = fork();
	if (!child) {
		close(down[1]);
		close(up[0]);
		run_tracer(process, program, down[0], up[1]);
	}
	close(up[1]);
	up[1] = -1;
	error = child < 0 ? errno : 0;
	if (child > 0)
		waitpid(child, NULL, 0);
	if (!error)
		error = be_traced(up[0], down[1]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error;
}

static void close_both(int ends[2])
{
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

void prepare(const char *program)
{
	int down[2] = { -1, -1 }, up[2] = { -1, -1 }, error;

	error = pipe(down) || pipe(up) ? errno : start(program, down, up);
	close_both(down);
	close_both(up);
	if (error)
		fprintf(stderr, "pillion: %s is not prepared: it cannot be traced (%s); lock its memory in the program, or"
			" allow tracing (kernel.yama.ptrace_scope)\n", program, strerror(error));
}
