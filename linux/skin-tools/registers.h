/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of the vector and floating-point units that hold a pattern while a thread waits. C code
 * may change them at any time: so loading, waiting and storing is one piece of assembly (hold.S).
 */
#ifndef REGISTERS_H
#define REGISTERS_H

#define VECTORS 16
#define LANES 4
#define STACKED 8

/* Offsets for hold.S. */
#define AT_STACK 512
#define AT_MXCSR 576
#define AT_CONTROL 580
#define REGISTERS_SIZE 584

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the registers hold: XMM or YMM, x87 as integers, and what controls them. */
struct registers {
	uint64_t vectors[VECTORS][LANES];
	int64_t stack[STACKED];
	uint32_t mxcsr;
	uint32_t control;
};

_Static_assert(offsetof(struct registers, stack) == AT_STACK, "as in hold.S");
_Static_assert(offsetof(struct registers, mxcsr) == AT_MXCSR, "as in hold.S");
_Static_assert(offsetof(struct registers, control) == AT_CONTROL, "as in hold.S");
_Static_assert(sizeof(struct registers) == REGISTERS_SIZE, "as in hold.S");

/* A register with a value that it should not have. */
struct mismatch {
	char name[8];
	uint64_t found;
	uint64_t expected;
};

/* Finds out which registers the processor has. Needs Linux. */
void registers_init(void);
/* The pattern of a thread, another one in each of its turns. */
void registers_fill(struct registers *registers, unsigned int thread, unsigned int turn);
/* Compares them; returns whether they are the same, or else the first that is not. */
bool registers_compare(const struct registers *found, const struct registers *expected, struct mismatch *mismatch);
/* The thread to which a value of a pattern belongs. */
unsigned int registers_owner(uint64_t value);
/* Changes a register, by its number; returns false if there is none of that number. */
bool registers_spoil(struct registers *registers, unsigned int number);
const char *registers_name(unsigned int number, char name[8]);
/* The number of a register with that name; -1: there is none. */
int registers_number(const char *name);

/* For hold.S: whether there are YMM registers. */
extern uint8_t registers_have_ymm;
#endif

#endif
