// SPDX-License-Identifier: GPL-2.0-only
/* Ends of Linux. */
#include <linux/io.h>
#include <linux/irqflags.h>
#include <asm/desc.h>
#include <asm/processor-flags.h>

#include "fault.h"

/* Takes no interrupt any more. Linux does not survive it. */
int fault_spin(void)
{
	local_irq_disable();
	for (;;)
		asm volatile(".rept 200\n nop\n .endr");
	return 0;
}

/* An exception without an interrupt table. Linux does not survive it. */
int fault_triple(void)
{
	const struct desc_ptr none = { 0, 0 };

	local_irq_disable();
	load_idt(&none);
	asm volatile("int3");
	return 0;
}

/*
 * A reserved bit of CR4. A processor answers with an exception; QEMU 7.2 takes it, and refuses the state at the next entry.
 */
int fault_invalid(void)
{
	unsigned long cr4;

	local_irq_disable();
	asm volatile("mov %%cr4, %0" : "=r" (cr4));
	asm volatile("1: mov %0, %%cr4\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : : "r" (cr4 | 1ul << 31 | 1ul << 40) : "memory");
	asm volatile("cpuid" : : "a" (0), "c" (0) : "ebx", "edx");
	local_irq_enable();
	note("invalid-state refused");
	return 0;
}

/* Asks the firmware for a system management interrupt, again and again. */
int fault_smi(void)
{
	u64 start = rdtsc();
	u32 count = 0;

	while (within(start, 100)) {
		outb(0x41, 0xb2);
		count++;
	}
	note("smi %u requests", count);
	return 0;
}
