/* SPDX-License-Identifier: GPL-2.0-only */
/* Hypercalls to the VM monitor. */
#ifndef HYPERCALL_H
#define HYPERCALL_H

#include <linux/types.h>
#include <pillion_channel.h>

static inline long hypercall(u64 number, u64 argument)
{
	long result;

	/* The monitor reads and writes the window. */
	asm volatile("vmmcall" : "=a" (result) : "a" (number), "b" (argument) : "memory");
	return result;
}

#endif
