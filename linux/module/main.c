// SPDX-License-Identifier: GPL-2.0-only
/* Real-time tasks on Pillion: FIFOs, shared memory, printed text, and control. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>

#include "control.h"
#include "doorbell.h"
#include "dual.h"
#include "fifo.h"
#include "log.h"
#include "mbuff.h"
#include "pend.h"
#include "psc.h"
#include "rtf.h"
#include "rtp.h"
#include "window.h"

/* The parts, in order of initialisation. The doorbell is last: it rings when all is ready. */
static const struct {
	const char *name;
	int (*open)(void);
	void (*close)(void);
} parts[] = {
	{ "FIFOs", rtf_open, rtf_close },
	{ "shared memory", mbuff_open, mbuff_close },
	{ "control", control_open, control_close },
	{ "handlers in processes", psc_open, psc_close },
	{ "dual mode", dual_open, dual_close },
	{ "message pipes", rtp_open, rtp_close },
	{ "doorbell", doorbell_open, doorbell_close },
};

static void close_parts(unsigned int count)
{
	while (count--)
		parts[count].close();
	pend_close();
	log_close();
	window_close();
}

static int __init pillion_init(void)
{
	unsigned int i;
	int error = window_open();

	if (error)
		return error;
	fifo_init();
	log_open();
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		error = parts[i].open();
		if (error) {
			pr_err("no %s: error %d\n", parts[i].name, error);
			close_parts(i);
			return error;
		}
	}
	pr_info("%u tasks, interrupt %u\n", window.task_count, doorbell_irq());
	return 0;
}

static void __exit pillion_exit(void)
{
	close_parts(ARRAY_SIZE(parts));
}

module_init(pillion_init);
module_exit(pillion_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("FIFOs and shared memory of real-time tasks on Pillion");
MODULE_ALIAS("char-major-150-*");
