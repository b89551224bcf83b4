/* SPDX-License-Identifier: GPL-2.0-only */
/* The registers of the current thread, on their way between Linux and a slot. */
#ifndef DUAL_REGISTERS_H
#define DUAL_REGISTERS_H

#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <asm/fpu/api.h>
#include <asm/fpu/xcr.h>
#include <asm/msr.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>

#include "dual_thread.h"
#include "window.h"

/* Flags that user mode can set. */
#define USER_FLAGS                                                                      \
	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF | X86_EFLAGS_SF | \
	 X86_EFLAGS_TF | X86_EFLAGS_DF | X86_EFLAGS_OF | X86_EFLAGS_AC | X86_EFLAGS_ID)

/* Interrupts are disabled, which keeps others from these registers, as fpregs_lock() does. */
static inline void save_vectors(struct pillion_dual_slot *slot)
{
	u64 components = xgetbv(XCR_XFEATURE_ENABLED_MASK);

	slot->xcr0 = components;
	if (test_thread_flag(TIF_NEED_FPU_LOAD))
		switch_fpu_return();
	asm volatile("xsave64 %0"
		     : "+m" (slot->vectors)
		     : "a" ((u32)components), "d" ((u32)(components >> 32)));
}

static inline void load_vectors(const struct pillion_dual_slot *slot)
{
	local_irq_disable();
	/* The processor holds the registers of this thread from here on. */
	if (test_thread_flag(TIF_NEED_FPU_LOAD))
		switch_fpu_return();
	asm volatile("xrstor64 %0"
		     :
		     : "m" (slot->vectors), "a" ((u32)slot->xcr0), "d" ((u32)(slot->xcr0 >> 32))
		     : "memory");
	local_irq_enable();
}

/* The general registers of a thread in Linux, by their numbers in instructions. */
#define EACH_REGISTER(with)                                                        \
	with(1, cx) with(2, dx) with(3, bx) with(4, sp) with(5, bp) with(6, si)    \
	with(7, di) with(8, r8) with(9, r9) with(10, r10) with(11, r11)            \
	with(12, r12) with(13, r13) with(14, r14) with(15, r15)

/* The registers as they are before the SYSCALL instruction. */
static inline void save_registers(struct pillion_dual_registers *to, const struct pt_regs *from)
{
#define SAVE(number, name) to->gpr[number] = from->name;
	EACH_REGISTER(SAVE)
#undef SAVE
	to->gpr[0] = from->orig_ax;
	to->rip = from->ip - SYSCALL_LENGTH;
	to->rflags = from->flags;
	to->fs_base = __rdmsr(MSR_FS_BASE);
	to->gs_base = __rdmsr(MSR_KERNEL_GS_BASE);
}

/* Linux continues the thread with these registers. Returns the value of rax. */
static inline long load_registers(struct pt_regs *to, const struct pillion_dual_registers *from)
{
#define LOAD(number, name) to->name = from->gpr[number];
	EACH_REGISTER(LOAD)
#undef LOAD
	to->ip = from->rip;
	to->flags = (to->flags & ~USER_FLAGS) | (from->rflags & USER_FLAGS);
	/* Nothing is to be restarted: the thread may be at any instruction. */
	to->orig_ax = -1;
	if (__rdmsr(MSR_FS_BASE) != from->fs_base) {
		preempt_disable();
		current->thread.fsbase = from->fs_base;
		wrmsrl(MSR_FS_BASE, from->fs_base);
		preempt_enable();
	}
	if (__rdmsr(MSR_KERNEL_GS_BASE) != from->gs_base) {
		preempt_disable();
		current->thread.gsbase = from->gs_base;
		wrmsrl(MSR_KERNEL_GS_BASE, from->gs_base);
		preempt_enable();
	}
	return from->gpr[0];
}

#endif
