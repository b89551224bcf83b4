// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults that only the kernel can commit: a guest out of control. For Pillion's tests; never load
 * it into a system that you want to keep. It harms Linux, but must not harm the real-time side.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <asm/tsc.h>

#include "fault.h"

#define DEBUG_CONSOLE 0xe9

static char *fault = "";
module_param(fault, charp, 0);
MODULE_PARM_DESC(fault, "what to do");

static const struct {
	const char *name;
	int (*run)(void);
} faults[] = {
	{ "spin", fault_spin },
	{ "spin-all", fault_spin_all },
	{ "far-deadline", fault_far },
	{ "triple-fault", fault_triple },
	{ "invalid-state", fault_invalid },
	{ "memory", fault_memory },
	{ "registers", fault_registers },
	{ "storm", fault_storm },
	{ "message", fault_message },
	{ "smi", fault_smi },
	{ "channel", fault_channel },
	{ "a20", fault_a20 },
	{ "reset", fault_reset },
	{ "hpet", fault_hpet },
	{ "bridge", fault_bridge },
	{ "bars", fault_bars },
	{ "dual", fault_dual },
	{ "clock", fault_clock },
};

void note(const char *format, ...)
{
	char line[128];
	const char *c;
	va_list args;

	va_start(args, format);
	vscnprintf(line, sizeof(line), format, args);
	va_end(args);
	for (c = line; *c; c++)
		outb(*c, DEBUG_CONSOLE);
	outb('\n', DEBUG_CONSOLE);
}

bool within(u64 start, unsigned int ms)
{
	return rdtsc() - start < (u64)ms * tsc_khz;
}

static int __init fault_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(fault, faults[i].name))
			return faults[i].run();
	pr_err("there is no fault \"%s\"\n", fault);
	return -EINVAL;
}

static void __exit fault_exit(void)
{
}

module_init(fault_init);
module_exit(fault_exit);

MODULE_LICENSE("GPL v2");
MODULE_DESCRIPTION("Faults of a passenger, for tests");
