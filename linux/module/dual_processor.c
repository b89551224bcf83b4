// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where Linux has several processors, dual mode is on those that the system file says, and each has
 * runners of its own. A thread that enters primary mode stays on its processor, in both modes, so
 * what Linux does there happens while no thread runs in primary mode there, as where there is one
 * processor only. What others do that threads in primary mode must not miss, interrupts these
 * (`dual_settle`).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <asm/processor.h>
#include <asm/smp.h>

#include "dual.h"
#include "hypercall.h"

DEFINE_PER_CPU(struct pillion_dual_processor *, dual_told);

/* Linux's numbers of dual mode's processors, by theirs; -1: Linux does not run there. */
static int cpus[PILLION_DUAL_PROCESSORS];

static struct cpumask all;

/* The state by which Linux asks whether a processor may go off line. */
static int hotplug;

const struct cpumask *dual_processors(void)
{
	return &all;
}

int dual_cpu_of(unsigned int slot)
{
	return cpus[dual_processor_of(slot)];
}

/* The one of Linux's processors that has this local APIC, or -1. */
static int with_apic(u32 id)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (cpu_physical_id(cpu) == id)
			return cpu;
	return -1;
}

/*
 * Finds dual mode's processors, each of which Linux may run under another number: a kernel that a
 * crash started (kdump) has one, which can be any. Returns why dual mode cannot be; NULL: it can.
 */
const char *dual_cannot_be(void)
{
	unsigned int i;
	int cpu;

	for (i = 0; i < PILLION_DUAL_PROCESSORS; i++)
		cpus[i] = -1;
	cpumask_clear(&all);
	for (i = 0; i < dual_slot_count(); i++) {
		unsigned int number = dual_processor_of(i);

		if (cpus[number] < 0)
			cpus[number] = with_apic(window.directory->dual_apics[number]);
		cpu = cpus[number];
		if (cpu < 0)
			continue;
		per_cpu(dual_told, cpu) = &dual_head()->processors[number];
		cpumask_set_cpu(cpu, &all);
	}
	return cpumask_empty(&all) ? "this kernel does not run on its processors" : NULL;
}

/* Threads in primary mode would be left behind, and nothing that others take would reach them. */
static int stay_on_line(unsigned int cpu)
{
	if (!cpumask_test_cpu(cpu, &all))
		return 0;
	pr_notice("processor %u stays on line: dual mode is there; unload the module first\n", cpu);
	return -EBUSY;
}

void dual_processors_close(void)
{
	if (dual_has_several())
		cpuhp_remove_state_nocalls(hotplug);
}

int dual_processors_open(void)
{
	if (!dual_has_several())
		return 0;
	hotplug = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "pillion/dual:online", NULL, stay_on_line);
	if (hotplug < 0)
		return hotplug;
	/* One may have gone since it was found. */
	if (cpumask_subset(&all, cpu_online_mask))
		return 0;
	dual_processors_close();
	return -EAGAIN;
}

/* Where the current thread is to be: where it is, if there is room, or where else it may be. */
static int choose(void)
{
	int here = raw_smp_processor_id(), found = -1, cpu;

	if (cpumask_test_cpu(here, &all) && dual_thread_has_room(here))
		return here;
	for_each_cpu_and(cpu, current->cpus_ptr, &all) {
		if (dual_thread_has_room(cpu))
			return cpu;
		if (found < 0 || cpu == here)
			found = cpu;
	}
	return found;
}

bool dual_stay_there(void)
{
	int cpu;

	if (current->nr_cpus_allowed == 1)
		return cpumask_intersects(current->cpus_ptr, &all);
	cpu = choose();
	return cpu >= 0 && !set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

/* Whether a processor may still use what was taken. */
static bool is_used_by(unsigned int number, u64 ask)
{
	return hypercall(PILLION_DUAL_TAKEN, ask | cpu_physical_id(cpus[number])) == PILLION_DUAL_ASKED;
}

/*
 * Waits until no thread in primary mode uses what was taken any more. Where one runs that may, on
 * dual mode's processors with threads inside, the kernel interrupts it: no translation outlasts
 * that, and what a runner found in Linux's memory before is not used afterwards (`Moment` in
 * user/dual/src/commit.rs). That takes as long as a processor's kernel has interrupts off. Each
 * call ends at once, so Linux takes interrupts in between; no thread waits for Linux.
 */
void dual_settle(const atomic_t *inside)
{
	/* Linux runs here, if this is one of them. */
	int here = get_cpu();
	unsigned long asked = 0;
	unsigned int i;

	for (i = 0; i < PILLION_DUAL_PROCESSORS; i++)
		if (atomic_read(&inside[i]) && cpus[i] >= 0 && cpus[i] != here && is_used_by(i, PILLION_DUAL_ASK))
			asked |= BIT(i);
	for_each_set_bit(i, &asked, PILLION_DUAL_PROCESSORS)
		while (is_used_by(i, 0))
			cpu_relax();
	put_cpu();
}
