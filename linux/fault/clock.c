// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops in the middle of advancing the clocks of the vDSO, as Linux does when it loses the
 * processor there: their sequence counts are odd, and whoever reads them waits.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <vdso/datapage.h>
#include <asm/tsc.h>

#include "fault.h"
#include "pillion_channel.h"

#define STOPS 20
#define STOP_MS 3

int fault_clock(void)
{
	struct pillion_dual *head = dual_window();
	struct vdso_data *clocks;
	unsigned int i;
	u64 start;

	if (!head || !head->vvar.page || head->vvar.replaced != head->vvar.page) {
		note("clock cannot begin");
		return -ENODEV;
	}
	clocks = phys_to_virt(head->vvar.page) + PILLION_DUAL_VVAR_FIRST;
	for (i = 0; i < STOPS; i++) {
		local_irq_disable();
		WRITE_ONCE(clocks[CS_HRES_COARSE].seq, clocks[CS_HRES_COARSE].seq + 1);
		WRITE_ONCE(clocks[CS_RAW].seq, clocks[CS_RAW].seq + 1);
		for (start = rdtsc(); within(start, STOP_MS);)
			cpu_relax();
		WRITE_ONCE(clocks[CS_RAW].seq, clocks[CS_RAW].seq + 1);
		WRITE_ONCE(clocks[CS_HRES_COARSE].seq, clocks[CS_HRES_COARSE].seq + 1);
		local_irq_enable();
		msleep(50);
	}
	note("clock stopped %u times", i);
	return 0;
}
