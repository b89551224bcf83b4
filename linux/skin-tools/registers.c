// SPDX-License-Identifier: GPL-2.0-only
#include "registers.h"

#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of registers: vectors, the stack, the two that control them. */
#define FIRST_STACKED VECTORS
#define MXCSR (VECTORS + STACKED)
#define CONTROL (MXCSR + 1)
#define REGISTERS (CONTROL + 1)

/* All exceptions masked, and the bits that choose how to round. */
#define MXCSR_DEFAULT 0x1f80
#define MXCSR_ROUNDING 13
#define CONTROL_DEFAULT 0x37f
#define CONTROL_ROUNDING 10

/* Where a pattern has the thread. */
#define OWNER 48

#define OSXSAVE (1 << 27)
#define AVX (1 << 28)
/* SSE and AVX in XCR0. */
#define YMM_STATE 6

uint8_t registers_have_ymm;

void registers_init(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & OSXSAVE) || !(ecx & AVX))
		return;
	asm volatile("xgetbv" : "=a" (eax), "=d" (edx) : "c" (0));
	registers_have_ymm = (eax & YMM_STATE) == YMM_STATE;
}

static unsigned int lanes(void)
{
	return registers_have_ymm ? LANES : 2;
}

static uint64_t pattern(unsigned int thread, unsigned int number, unsigned int lane, unsigned int turn)
{
	return (uint64_t)(thread + 1) << OWNER | (uint64_t)(number << 3 | lane) << 32 | turn;
}

void registers_fill(struct registers *registers, unsigned int thread, unsigned int turn)
{
	unsigned int i, lane;

	for (i = 0; i < VECTORS; i++)
		for (lane = 0; lane < LANES; lane++)
			registers->vectors[i][lane] = pattern(thread, i, lane, turn);
	for (i = 0; i < STACKED; i++)
		registers->stack[i] = pattern(thread, FIRST_STACKED + i, 0, turn);
	registers->mxcsr = MXCSR_DEFAULT | (thread + turn) % 4 << MXCSR_ROUNDING;
	registers->control = CONTROL_DEFAULT | (thread + turn + 1) % 4 << CONTROL_ROUNDING;
}

/* The word of a register that is looked at. */
static uint64_t word(const struct registers *registers, unsigned int number, unsigned int lane)
{
	if (number < FIRST_STACKED)
		return registers->vectors[number][lane];
	if (number < MXCSR)
		return registers->stack[number - FIRST_STACKED];
	return number == MXCSR ? registers->mxcsr : registers->control;
}

bool registers_compare(const struct registers *found, const struct registers *expected, struct mismatch *mismatch)
{
	unsigned int number, lane;

	for (number = 0; number < REGISTERS; number++)
		for (lane = 0; lane < (number < FIRST_STACKED ? lanes() : 1); lane++) {
			mismatch->found = word(found, number, lane);
			mismatch->expected = word(expected, number, lane);
			if (mismatch->found == mismatch->expected)
				continue;
			registers_name(number, mismatch->name);
			return false;
		}
	return true;
}

unsigned int registers_owner(uint64_t value)
{
	return (value >> OWNER) - 1;
}

bool registers_spoil(struct registers *registers, unsigned int number)
{
	if (number < FIRST_STACKED)
		/* The upper half, if there is one: it is what is forgotten. */
		registers->vectors[number][lanes() - 1] ^= 1;
	else if (number < MXCSR)
		registers->stack[number - FIRST_STACKED] ^= 1;
	else if (number == MXCSR)
		registers->mxcsr ^= 1 << MXCSR_ROUNDING;
	else
		registers->control ^= 1 << CONTROL_ROUNDING;
	return number < REGISTERS;
}

const char *registers_name(unsigned int number, char name[8])
{
	if (number < FIRST_STACKED)
		snprintf(name, 8, "%cmm%u", registers_have_ymm ? 'y' : 'x', number);
	else if (number < MXCSR)
		snprintf(name, 8, "st%u", number - FIRST_STACKED);
	else
		strcpy(name, number == MXCSR ? "mxcsr" : "fcw");
	return name;
}

int registers_number(const char *name)
{
	unsigned int number;
	char other[8];

	for (number = 0; number < REGISTERS; number++)
		if (!strcmp(registers_name(number, other), name))
			return number;
	/* The lower half of a YMM register. */
	if (registers_have_ymm && name[0] == 'x') {
		snprintf(other, sizeof(other), "y%s", name + 1);
		return registers_number(other);
	}
	return -1;
}
