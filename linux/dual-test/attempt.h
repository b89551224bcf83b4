/* SPDX-License-Identifier: GPL-2.0-only */
/* Attempts of hostile code, in an ordinary process and in primary mode. */
#ifndef ATTEMPT_H
#define ATTEMPT_H

#include <stdint.h>

/* What came of an attempt. */
struct outcome {
	/* Whether it came to an end, and did not end the process. */
	uint32_t is_over;
	/* Status of the process: signals that cannot be handled. */
	int32_t status;
	/* The signal that was handled; 0: none. */
	int32_t sig;
	int32_t code;
	uint64_t address;
	uint64_t trap;
	uint64_t error;
	uint64_t cr2;
	uint64_t rip;
	/* RAX, RBX, RCX, RDX, if there was no signal. */
	uint64_t results[4];
};

/* Something to attempt: its function stores results. */
struct attempt {
	void (*run)(const struct attempt *attempt, struct outcome *outcome);
	/* Before anything else. */
	void (*prepare)(void);
	/* After that, with its last rights: those with which it is marked. */
	void (*confine)(void);
	const void *code;
	uint64_t arguments[7];
};

/*
 * Makes the attempt in an ordinary process and in a marked one, and again if chance made them
 * different; fails if what came of it is not the same.
 */
void attempt(const struct attempt *attempt, const char *name);

#endif
