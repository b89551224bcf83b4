// SPDX-License-Identifier: GPL-2.0-only
/* Ways for Linux to die. */
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/desc.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <asm/processor-flags.h>

#include "fault.h"

/* Takes no interrupts any more. Linux does not survive it. */
int fault_spin(void)
{
	local_irq_disable();
	for (;;)
		asm volatile(".rept 200\n nop\n .endr");
	return 0;
}

static void spin(void *unused)
{
	fault_spin();
}

/* The same on all processors. */
int fault_spin_all(void)
{
	smp_call_function(spin, NULL, 0);
	return fault_spin();
}

/*
 * The same on one, with measures against the watchdog: the next expiry of a periodic timer is
 * postponed forever, so that the monitor's check would not come; and an interrupt is pending. Linux
 * does not survive it.
 */
int fault_far(void)
{
	local_irq_disable();
	/* Not apic_write(): modules cannot use it from Linux 6.12. Pillion's is in x2APIC mode. */
	native_apic_msr_write(APIC_LVTT, APIC_LVT_TIMER_PERIODIC | LOCAL_TIMER_VECTOR);
	native_apic_msr_write(APIC_TDCR, APIC_TDR_DIV_1);
	native_apic_msr_write(APIC_TMICT, 1000000);
	wrmsrl(MSR_IA32_TSC_DEADLINE, 1ull << 62);
	native_apic_msr_write(APIC_ICR, APIC_DEST_SELF | RESCHEDULE_VECTOR);
	return fault_spin();
}

/* Raises an exception without an interrupt table. Linux does not survive it. */
int fault_triple(void)
{
	const struct desc_ptr none = { 0, 0 };

	local_irq_disable();
	load_idt(&none);
	asm volatile("int3");
	return 0;
}

/*
 * Sets reserved bits of CR4. A processor raises an exception; QEMU 7.2 accepts them, and refuses
 * the state at the next entry.
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

/* Requests system management interrupts from the firmware, repeatedly. */
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
