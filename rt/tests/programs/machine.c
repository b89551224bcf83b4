/*
 * Linux uses the rest of the machine against this program: an IOMMU in the tables, the HPET's
 * writes to memory and its legacy replacement, which would silence the clock chip's line, address
 * line 20, and, in three ways, the bridge above the program's device. The clock chip's interrupts
 * continue, all of them, and the device is not seen again. (A processor that sleeps loses some of
 * the clock chip's interrupts in the emulator: docs/plan.md.)
 *
 * task: ports = [{ first = 0x70, count = 2 }]
 * task: interrupts = [{ line = 8 }]
 * task: devices = ["01:00.0"]
 * prints: interrupts go on: yes
 * never: bridge foreign
 * never: "pillion":"fault"
 * load: machine
 * run: --fault-module --kernel-append idle=poll
 * run: --qemu-arg=-device --qemu-arg=amd-iommu,intremap=on --qemu-arg=-global --qemu-arg=hpet.msi=on
 * run: --qemu-arg=-device --qemu-arg=pcie-root-port,id=above,addr=8,chassis=1 --qemu-arg=-device --qemu-arg=edu,bus=above
 * limit: 400
 */
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_fifo.h>
#include <rtl_time.h>
#include <linux/mc146818rtc.h>
#include <pillion.h>

#define STOP 1
#define RATE 64
#define PERIOD (1000000000 / RATE)

static int interrupts;
static hrtime_t begin, last;

static unsigned int handler(unsigned int irq, struct pt_regs *regs)
{
	(void)CMOS_READ(RTC_INTR_FLAGS);
	interrupts++;
	last = gethrtime();
	rtl_hard_enable_irq(irq);
	return 0;
}

/* Linux has done its worst. */
static int on_stop(unsigned int fifo)
{
	int expected = (gethrtime() - begin) / PERIOD;
	int well = expected > RATE && interrupts >= expected - 1 && gethrtime() - last < 2 * PERIOD;

	rtl_printf("interrupts go on: %s\n", well ? "yes" : "no");
	pillion_unload();
	return 0;
}

int init_module(void)
{
	rtf_create(STOP, 64);
	rtf_create_handler(STOP, on_stop);
	if (rtl_request_irq(RTC_IRQ, handler))
		return -1;
	CMOS_WRITE((CMOS_READ(RTC_FREQ_SELECT) & ~RTC_RATE_SELECT) | 10, RTC_FREQ_SELECT);
	CMOS_WRITE(CMOS_READ(RTC_CONTROL) | RTC_PIE, RTC_CONTROL);
	(void)CMOS_READ(RTC_INTR_FLAGS);
	begin = gethrtime();
	rtl_hard_enable_irq(RTC_IRQ);
	return 0;
}

void cleanup_module(void)
{
	CMOS_WRITE(CMOS_READ(RTC_CONTROL) & ~RTC_PIE, RTC_CONTROL);
	rtl_free_irq(RTC_IRQ);
	rtf_destroy(STOP);
}
