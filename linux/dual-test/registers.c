// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers survive system calls, whoever answers them, and each other way to Linux: page faults,
 * signals, and a debugger, which reads and writes them.
 */
#define _GNU_SOURCE
#include <asm/hwcap2.h>
#include <cpuid.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "test.h"

/* Calls, page faults, signals, debuggers. */
#define ROUNDS 10000
#define ROUNDS_FAULT 1000
#define ROUNDS_SIGNAL 200
#define ROUNDS_TRACE 20
#define PAGE 4096
/* Instructions of one byte at `around_steps`. */
#define STEPS 4

/* Components of the vector state that are filled: x87, SSE, AVX, the three of AVX-512, PKRU. */
#define COMPONENTS 0x2e7ull
#define PKRU 9
/* CF, PF, AF, ZF, SF, DF, OF, AC, ID. */
#define FLAGS (1ul << 0 | 1ul << 2 | 1ul << 4 | 1ul << 6 | 1ul << 7 | 1ul << 10 | 1ul << 11 | 1ul << 18 | 1ul << 21)
/* What is always set: the reserved bit and IF. */
#define FLAGS_ALWAYS 0x202
/* ID, which a debugger cannot write. */
#define FLAGS_KEPT (1ul << 21)

/* Numbers of registers. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12 };

/* As in around.S. */
struct around {
	uint64_t gpr[16];
	uint64_t flags;
	uint64_t fs;
	uint64_t gs;
	uint8_t vectors[12288] __attribute__((aligned(64)));
};

_Static_assert(offsetof(struct around, vectors) == 192, "as in around.S");

struct around around_in, around_out;
uint8_t around_before[12288] __attribute__((aligned(64)));
uint64_t around_mask;
bool around_has_bases;

void around_call(void);
void around_write(void);
void around_wait(void);
/* RAX, RCX and R11 behind the sleep. */
extern uint64_t around_then[3];
/* Places in them. */
extern const char around_behind[], around_loop[], around_steps[];
extern char around_page[PAGE];

static __thread volatile unsigned int of_this_thread;

/* Where a component is in the vector registers; false if there is none. */
static bool component(unsigned int number, unsigned int *offset, unsigned int *size)
{
	unsigned int ecx, edx;

	if (!(around_mask >> number & 1))
		return false;
	__cpuid_count(13, number, *size, *offset, ecx, edx);
	check(*offset + *size <= sizeof(around_in.vectors), "component %u is too large", number);
	return true;
}

static void randomize(void *memory, size_t size)
{
	uint8_t *bytes = memory;

	while (size--)
		*bytes++ = random();
}

static uint64_t random64(void)
{
	uint64_t value;

	randomize(&value, sizeof(value));
	return value;
}

/* x87 and SSE, with all exceptions masked. */
static void fill_legacy(uint8_t *area)
{
	unsigned int i, control = 0x7f | (random() & 0xf) << 8, status = random() & 0x7f3f;
	/* Flags, rounding, flush to zero. */
	uint32_t mxcsr = 0x1f80 | (random() & 0xe03f);

	/* A pending precision exception of the stack, masked too, has no busy bit. */
	memcpy(area, &control, 2);
	memcpy(area + 2, &status, 2);
	area[4] = random();
	memcpy(area + 24, &mxcsr, 4);
	for (i = 0; i < 8; i++)
		randomize(area + 32 + 16 * i, 10);
	randomize(area + 160, 256);
}

static void fill_vectors(unsigned int round)
{
	uint64_t mask = around_mask, protection = random64() & 0xfffffffc;
	unsigned int number, offset, size;

	memset(around_in.vectors, 0, sizeof(around_in.vectors));
	fill_legacy(around_in.vectors);
	/* Sometimes one of them is in its initial state. */
	if (round % 7 == 0)
		mask &= ~(1ull << (2 + random() % 8));
	memcpy(around_in.vectors + 512, &mask, sizeof(mask));
	for (number = 2; number < 10; number++)
		if (mask >> number & 1 && component(number, &offset, &size))
			randomize(around_in.vectors + offset, number == PKRU ? 0 : size);
	if (mask >> PKRU & 1 && component(PKRU, &offset, &size))
		memcpy(around_in.vectors + offset, &protection, 4);
}

static void check_vectors(unsigned int round)
{
	/* Control, status and tag words; MXCSR; x87 and XMM registers. Not the last instruction. */
	static const struct {
		unsigned int offset, size;
	} parts[] = { { 0, 5 }, { 24, 4 }, { 32, 384 } };
	unsigned int i, number, offset, size;

	for (i = 0; i < 3; i++)
		check(!memcmp(around_in.vectors + parts[i].offset, around_out.vectors + parts[i].offset, parts[i].size),
		      "round %u: x87 or SSE registers from offset %u", round, parts[i].offset);
	for (number = 2; number < 10; number++)
		if (component(number, &offset, &size))
			check(!memcmp(around_in.vectors + offset, around_out.vectors + offset, size),
			      "round %u: vector component %u", round, number);
}

static void choose_sleep(struct timespec *time)
{
	uint64_t *gpr = around_in.gpr;

	*time = timespec_of(20 * MICROSECOND);
	gpr[RAX] = SYS_clock_nanosleep;
	gpr[RDI] = CLOCK_MONOTONIC;
	gpr[RSI] = 0;
	gpr[RDX] = (uintptr_t)time;
	gpr[R10] = 0;
}

/* Chooses a system call: a wait, a clock's time, or one for Linux. */
static void choose(unsigned int round, struct timespec *time)
{
	uint64_t *gpr = around_in.gpr;

	switch (round % 3) {
	case 0:
		gpr[RAX] = SYS_getppid;
		return;
	case 1:
		choose_sleep(time);
		return;
	default:
		gpr[RAX] = SYS_clock_gettime;
		gpr[RDI] = CLOCK_MONOTONIC;
		gpr[RSI] = (uintptr_t)time;
	}
}

/* Whether a general register is as it was. */
static void check_register(unsigned int round, unsigned int number, uint64_t wanted)
{
	check(around_out.gpr[number] == wanted, "round %u: register %u is %#lx instead of %#lx", round, number,
	      (long)around_out.gpr[number], (long)wanted);
}

/* All of them but those that a system call changes. */
static void check_general(unsigned int round)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		if (i != RAX && i != RCX && i != R11)
			check_register(round, i, around_in.gpr[i]);
	check(around_in.flags == around_out.flags, "round %u: flags are %#lx instead of %#lx", round,
	      (long)around_out.flags, (long)around_in.flags);
	if (around_has_bases) {
		check(around_in.fs == around_out.fs, "round %u: base of FS", round);
		check(around_in.gs == around_out.gs, "round %u: base of GS", round);
	}
	check(of_this_thread == round, "round %u: a variable of the thread", round);
}

/* All, where there was no system call. */
static void check_all(unsigned int round)
{
	check_register(round, RAX, around_then[0]);
	check_register(round, RCX, around_then[1]);
	check_register(round, R11, around_then[2]);
	check_general(round);
	check_vectors(round);
}

static void fill(unsigned int round)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		around_in.gpr[i] = random64();
	around_in.flags = (random64() & FLAGS) | FLAGS_ALWAYS;
	around_in.fs = random64() >> 17;
	around_in.gs = random64() >> 17;
	fill_vectors(round);
	of_this_thread = round;
}

static void try_call(unsigned int round)
{
	static struct timespec time;

	fill(round);
	time = timespec_of(0);
	choose(round, &time);
	around_call();
	check(round % 3 ? !around_out.gpr[RAX] : around_out.gpr[RAX] < 1 << 22, "round %u: the result is %#lx", round,
	      (long)around_out.gpr[RAX]);
	check(round % 3 != 2 || ns_of(time) > 0, "round %u: no time", round);
	/* SYSCALL's own: where it returns to, and the flags. */
	check_register(round, RCX, (uintptr_t)around_behind);
	check_register(round, R11, around_in.flags);
	check_general(round);
	check_vectors(round);
}

/* A sleep, so that what follows it is in primary mode. */
static void fill_for_primary(unsigned int round)
{
	static struct timespec time;
	unsigned int i;

	fill(round);
	choose_sleep(&time);
	for (i = 0; i < COUNT(around_then); i++)
		around_then[i] = random64();
}

/* What they are when the thread is recalled. */
static uint64_t wanted(unsigned int number)
{
	switch (number) {
	case RAX:
		return around_then[0];
	case RCX:
		return around_then[1];
	case R11:
		return around_then[2];
	default:
		return around_in.gpr[number];
	}
}

/* Writes to a page that is not there, which leads to Linux. */
static void try_fault(unsigned int round)
{
	check(!madvise(around_page, sizeof(around_page), MADV_DONTNEED), "madvise");
	fill_for_primary(round);
	around_write();
	check(around_page[0] == 1, "round %u: nothing was written", round);
	check_all(round);
}

/* Has Linux run others whenever it can, in a group of processes with that number. */
static pid_t crowd(void)
{
	pid_t child = fork();

	if (!child) {
		setpgid(0, 0);
		execlp("hackbench", "hackbench", "-g", "1", "-l", "1000000", NULL);
		_exit(127);
	}
	return child;
}

static void prepare(void)
{
	unsigned int eax, ebx, ecx, edx;

	__cpuid(1, eax, ebx, ecx, edx);
	check(ecx & 1 << 27, "there is no XSAVE");
	asm volatile("xgetbv" : "=a" (eax), "=d" (edx) : "c" (0));
	around_mask = (eax | (uint64_t)edx << 32) & COMPONENTS;
	around_has_bases = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

void registers(void)
{
	pid_t others = crowd();
	unsigned int i;

	prepare();
	enter();
	for (i = 0; i < ROUNDS; i++)
		try_call(i);
	check_entries(ROUNDS / 4);
	check(!waitpid(others, NULL, WNOHANG) && !kill(-others, SIGKILL), "hackbench did not run beside it");
	tell("vector components %#lx, bases %s", (long)around_mask, around_has_bases ? "changed" : "not changed");
}

/* How often the calling thread has left primary mode for that reason. */
static uint64_t left_for(unsigned int reason)
{
	struct pillion_dual_thread thread;

	if (is_native)
		return 0;
	check(look(gettid(), &thread), "it was never in primary mode");
	return thread.left[reason];
}

void registers_at_faults(void)
{
	uint64_t before, faults;
	unsigned int i;

	prepare();
	enter();
	munlockall();
	to_primary();
	before = left_for(PILLION_DUAL_LEFT_FAULT);
	for (i = 0; i < ROUNDS_FAULT; i++)
		try_fault(i);
	faults = left_for(PILLION_DUAL_LEFT_FAULT) - before;
	check(is_native || faults >= ROUNDS_FAULT, "%lu of %u page faults in primary mode", (long)faults, ROUNDS_FAULT);
}

/* Registers as signal frames have them, by their numbers in instructions. */
static const int in_frame[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/* Whether those of the last frame were right. The handler runs without the thread's variables. */
static volatile bool was_loop, was_right;

/* Ends the loop. */
static void ends_loop(int sig, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned int i;

	(void)sig;
	(void)info;
	was_loop = registers[REG_RIP] == (greg_t)(uintptr_t)around_loop;
	if (!was_loop)
		return;
	was_right = (registers[REG_EFL] & (FLAGS | FLAGS_ALWAYS)) == around_in.flags;
	for (i = 0; i < 16; i++)
		was_right &= (uint64_t)registers[in_frame[i]] == wanted(i);
	registers[REG_RIP] = (uintptr_t)around_steps;
}

/* Computes until a signal recalls it. */
static void try_signal(unsigned int round, timer_t timer)
{
	const struct itimerspec soon = { .it_value.tv_nsec = (100 + random() % 900) * MICROSECOND };

	was_loop = was_right = false;
	fill_for_primary(round);
	check(!timer_settime(timer, 0, &soon, NULL), "timer_settime");
	around_wait();
	check(was_loop && was_right, "round %u: the signal's frame has other registers", round);
	check_all(round);
}

void registers_at_signals(void)
{
	struct sigaction action = { .sa_sigaction = ends_loop, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	static char stack[65536] __attribute__((aligned(64)));
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };
	uint64_t before, recalls;
	timer_t timer;
	unsigned int i;

	prepare();
	check(!sigaltstack(&alternative, NULL) && !sigaction(SIGALRM, &action, NULL), "sigaction");
	check(!timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create");
	enter();
	to_primary();
	before = left_for(PILLION_DUAL_LEFT_RECALL);
	for (i = 0; i < ROUNDS_SIGNAL; i++)
		try_signal(i, timer);
	recalls = left_for(PILLION_DUAL_LEFT_RECALL) - before;
	check(is_native || recalls >= ROUNDS_SIGNAL, "%lu of %u recalls", (long)recalls, ROUNDS_SIGNAL);
}

/* What the debugger wrote, and what the debugged thread then had. */
static struct around *written, *found;

/* Is in the loop until a debugger takes it out. */
static void loops(void *context)
{
	volatile bool *is_there = context;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	enter();
	*is_there = true;
	around_wait();
	*found = around_out;
}

/* A debugger's registers, by their numbers in instructions. */
static unsigned long long *in_debugger(struct user_regs_struct *registers, unsigned int number)
{
	unsigned long long *const places[16] = {
		&registers->rax, &registers->rcx, &registers->rdx, &registers->rbx,
		&registers->rsp, &registers->rbp, &registers->rsi, &registers->rdi,
		&registers->r8, &registers->r9, &registers->r10, &registers->r11,
		&registers->r12, &registers->r13, &registers->r14, &registers->r15,
	};

	return places[number];
}

static void check_seen(unsigned int round, struct user_regs_struct *seen, const struct around *wanted, const char *rip)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		check(*in_debugger(seen, i) == wanted->gpr[i], "round %u: register %u is %#llx instead of %#lx", round, i,
		      *in_debugger(seen, i), (long)wanted->gpr[i]);
	check(seen->rip == (uintptr_t)rip, "round %u: it is at %#llx instead of %p", round, seen->rip, rip);
	check((seen->eflags & (FLAGS | FLAGS_ALWAYS)) == wanted->flags, "round %u: flags are %#llx instead of %#lx", round,
	      seen->eflags, (long)wanted->flags);
	check(seen->cs == 0x33 && seen->ss == 0x2b && !seen->ds && !seen->es && !seen->fs && !seen->gs,
	      "round %u: its segments", round);
	check(!around_has_bases || (seen->fs_base == wanted->fs && seen->gs_base == wanted->gs), "round %u: its bases", round);
}

/* x87 and SSE of the debugged thread. */
static void check_seen_vectors(unsigned int round, pid_t child)
{
	struct user_fpregs_struct seen;

	check(!ptrace(PTRACE_GETFPREGS, child, NULL, &seen), "PTRACE_GETFPREGS");
	check(!memcmp(&seen.mxcsr, around_in.vectors + 24, 4), "round %u: MXCSR", round);
	check(!memcmp(seen.st_space, around_in.vectors + 32, 384), "round %u: x87 or SSE registers", round);
}

/* A debugger's view of the thread, and what it makes of it. */
static void debug(unsigned int round, pid_t child)
{
	struct user_regs_struct registers;
	unsigned int i;
	int status;

	check(!ptrace(PTRACE_SEIZE, child, NULL, NULL) && !ptrace(PTRACE_INTERRUPT, child, NULL, NULL), "PTRACE_SEIZE");
	check(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "it does not stop: %#x", status);
	check(!ptrace(PTRACE_GETREGS, child, NULL, &registers), "PTRACE_GETREGS");
	around_in.gpr[RSP] = ptrace(PTRACE_PEEKDATA, child, &around_in.gpr[RSP], NULL);
	for (i = 0; i < 16; i++)
		around_in.gpr[i] = wanted(i);
	check_seen(round, &registers, &around_in, around_loop);
	check_seen_vectors(round, child);
	for (i = 0; i < 16; i++)
		*in_debugger(&registers, i) = written->gpr[i] = random64();
	registers.eflags = written->flags =
		(random64() & FLAGS & ~FLAGS_KEPT) | (around_in.flags & FLAGS_KEPT) | FLAGS_ALWAYS;
	registers.rip = (uintptr_t)around_steps;
	registers.fs_base = written->fs = around_has_bases ? random64() >> 17 : registers.fs_base;
	registers.gs_base = written->gs = around_has_bases ? random64() >> 17 : registers.gs_base;
	check(!ptrace(PTRACE_SETREGS, child, NULL, &registers), "PTRACE_SETREGS");
	for (i = 1; i <= STEPS; i++) {
		check(!ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), "PTRACE_SINGLESTEP");
		check(waitpid(child, &status, 0) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP,
		      "round %u: step %u: %#x", round, i, status);
		check(!ptrace(PTRACE_GETREGS, child, NULL, &registers), "PTRACE_GETREGS");
		check_seen(round, &registers, written, around_steps + i);
	}
	check(!ptrace(PTRACE_DETACH, child, NULL, NULL), "PTRACE_DETACH");
}

/* A debugger of a thread in primary mode sees its registers, writes them, and has it step. */
void registers_traced(void)
{
	struct sched_param parameters = { .sched_priority = PRIORITY + 10 };
	volatile bool *is_there = shared(sizeof(*is_there));
	unsigned int i, j;
	pid_t child;
	int status;

	prepare();
	written = shared(sizeof(*written));
	found = shared(sizeof(*found));
	/* In Linux, before the debugged. */
	check(!sched_setscheduler(0, SCHED_FIFO, &parameters), "sched_setscheduler");
	for (i = 0; i < ROUNDS_TRACE; i++) {
		*is_there = false;
		fill_for_primary(i);
		child = spawn(loops, (void *)is_there);
		while (!*is_there && !waitpid(child, &status, WNOHANG))
			usleep(100);
		check(*is_there, "its status is %#x", status);
		/* It is past that now, and in the loop. */
		usleep(1000 + random() % 1000);
		debug(i, child);
		status = status_of(child);
		check(!status, "its status is %#x", status);
		for (j = 0; j < 16; j++)
			check(found->gpr[j] == written->gpr[j], "round %u: register %u became %#lx instead of %#lx", i, j,
			      (long)found->gpr[j], (long)written->gpr[j]);
		check(found->flags == written->flags, "round %u: flags became %#lx", i, (long)found->flags);
		check(!around_has_bases || (found->fs == written->fs && found->gs == written->gs), "round %u: bases", i);
	}
}
