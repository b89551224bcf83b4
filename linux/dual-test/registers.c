// SPDX-License-Identifier: GPL-2.0-only
/* Registers survive system calls, whoever answers them. */
#define _GNU_SOURCE
#include <asm/hwcap2.h>
#include <cpuid.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define ROUNDS 10000

/* Components of the vector state that are filled: x87, SSE, AVX, the three of AVX-512, PKRU. */
#define COMPONENTS 0x2e7ull
#define PKRU 9
/* CF, PF, AF, ZF, SF, DF, OF, AC, ID. */
#define FLAGS (1ul << 0 | 1ul << 2 | 1ul << 4 | 1ul << 6 | 1ul << 7 | 1ul << 10 | 1ul << 11 | 1ul << 18 | 1ul << 21)
/* What is always set: the reserved bit and IF. */
#define FLAGS_ALWAYS 0x202

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

/* Chooses a system call: a wait, a clock's time, or one for Linux. */
static void choose(unsigned int round, struct timespec *time)
{
	uint64_t *gpr = around_in.gpr;

	switch (round % 3) {
	case 0:
		gpr[RAX] = SYS_getppid;
		return;
	case 1:
		*time = timespec_of(20 * MICROSECOND);
		gpr[RAX] = SYS_clock_nanosleep;
		gpr[RDI] = CLOCK_MONOTONIC;
		gpr[RSI] = 0;
		gpr[RDX] = (uintptr_t)time;
		gpr[R10] = 0;
		return;
	default:
		gpr[RAX] = SYS_clock_gettime;
		gpr[RDI] = CLOCK_MONOTONIC;
		gpr[RSI] = (uintptr_t)time;
	}
}

static void check_general(unsigned int round, const struct timespec *time)
{
	unsigned int i;

	check(round % 3 ? !around_out.gpr[RAX] : around_out.gpr[RAX] < 1 << 22, "round %u: the result is %#lx", round,
	      (long)around_out.gpr[RAX]);
	check(round % 3 != 2 || ns_of(*time) > 0, "round %u: no time", round);
	for (i = 0; i < 16; i++)
		if (i != RAX && i != RCX && i != R11)
			check(around_in.gpr[i] == around_out.gpr[i], "round %u: register %u is %#lx instead of %#lx", round, i,
			      (long)around_out.gpr[i], (long)around_in.gpr[i]);
	check(around_in.flags == around_out.flags, "round %u: flags are %#lx instead of %#lx", round,
	      (long)around_out.flags, (long)around_in.flags);
	if (around_has_bases) {
		check(around_in.fs == around_out.fs, "round %u: base of FS", round);
		check(around_in.gs == around_out.gs, "round %u: base of GS", round);
	}
	check(of_this_thread == round, "round %u: a variable of the thread", round);
}

static void try(unsigned int round)
{
	static struct timespec time;
	unsigned int i;

	for (i = 0; i < 16; i++)
		around_in.gpr[i] = random64();
	around_in.flags = (random64() & FLAGS) | FLAGS_ALWAYS;
	around_in.fs = random64() >> 17;
	around_in.gs = random64() >> 17;
	fill_vectors(round);
	time = timespec_of(0);
	choose(round, &time);
	of_this_thread = round;
	around_call();
	check_general(round, &time);
	check_vectors(round);
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

void registers(void)
{
	unsigned int i, eax, ebx, ecx, edx;
	pid_t others = crowd();

	__cpuid(1, eax, ebx, ecx, edx);
	check(ecx & 1 << 27, "there is no XSAVE");
	asm volatile("xgetbv" : "=a" (eax), "=d" (edx) : "c" (0));
	around_mask = (eax | (uint64_t)edx << 32) & COMPONENTS;
	around_has_bases = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
	enter();
	for (i = 0; i < ROUNDS; i++)
		try(i);
	check_entries(ROUNDS / 4);
	check(!waitpid(others, NULL, WNOHANG) && !kill(-others, SIGKILL), "hackbench did not run beside it");
	tell("vector components %#lx, bases %s", (long)around_mask, around_has_bases ? "changed" : "not changed");
}
