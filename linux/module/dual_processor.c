// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where Linux has several processors, dual mode is on the first of them, and so is the task. A
 * thread that enters primary mode stays on that processor, in both modes, so what Linux does there
 * happens while no thread runs in primary mode, as where there is one processor only. What others
 * do that threads in primary mode must not miss, waits until Linux has run there (`dual_settle`).
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <asm/msr.h>

#include "dual.h"

static void look(void *is_first)
{
	*(bool *)is_first = __rdmsr(MSR_IA32_APICBASE) & MSR_IA32_APICBASE_BSP;
}

/*
 * Why dual mode cannot be on its processor; NULL: it can. The task is where Linux is started, which
 * is another processor than the first one of a kernel that a crash started elsewhere (kdump).
 */
const char *dual_cannot_be(void)
{
	bool is_first = false;

	smp_call_function_single(DUAL_CPU, look, &is_first, true);
	if (!is_first)
		return "Linux was started on another processor than this kernel";
	if (dual_has_several() && cpu_is_hotpluggable(DUAL_CPU))
		return "its processor can go off line (cpu0_hotplug)";
	return NULL;
}

bool dual_stay_there(void)
{
	if (!cpumask_test_cpu(DUAL_CPU, current->cpus_ptr))
		return false;
	return current->nr_cpus_allowed == 1 || !set_cpus_allowed_ptr(current, cpumask_of(DUAL_CPU));
}

static void nothing(void *context)
{
}

/*
 * Waits until Linux has run on dual mode's processor. Whatever a runner found in Linux's memory
 * before that is not used afterwards: a runner looks whether Linux has run since (`Moment` in
 * user/dual/src/commit.rs), and no translation outlasts that. Interrupts are enabled. Linux waits
 * for a thread in primary mode as long as that computes within its budget, and no thread waits for
 * Linux.
 */
void dual_settle(void)
{
	/* Linux runs here, if this is the one. */
	if (get_cpu() != DUAL_CPU)
		smp_call_function_single(DUAL_CPU, nothing, NULL, true);
	put_cpu();
}
