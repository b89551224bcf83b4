// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses devices to do what Linux itself may not: the keyboard controller to reset the processor and
 * to disable an address line, the HPET to write to memory, a bridge to renumber its bus, behind
 * which a hidden function would become visible again.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/pci.h>
#include <asm/processor.h>

#include "fault.h"

#define KEYBOARD_DATA	0x60
#define KEYBOARD	0x64
#define CONTROL_A	0x92
#define HPET		0xfed00000ull
#define HPET_ENABLE	1
#define HPET_LEGACY	2
#define KERNEL		0x200000u
#define KERNEL_END	0x210000u
#define STEP		16
#define CONFIGURATION	0xb0000000ull
#define ELSEWHERE	0x40

/* Switches address line 20 off and on, as AT programs do. Off, every second MiB is an alias. */
int fault_a20(void)
{
	u8 before = inb(CONTROL_A);

	outb(before & ~3, CONTROL_A);
	outb(before | 2, CONTROL_A);
	outb(0xdd, KEYBOARD);
	udelay(50);
	outb(0xdf, KEYBOARD);
	outb(0xd1, KEYBOARD);
	udelay(50);
	outb(0x01, KEYBOARD_DATA);
	udelay(50);
	outb(0xd1, KEYBOARD);
	outb(0x03, KEYBOARD_DATA);
	/* The line's pulse, and accesses that reach into the registers from below. */
	outb(0xfd, KEYBOARD);
	outw(0xdddd, KEYBOARD - 1);
	outl(0xdddddddd, KEYBOARD_DATA + 1);
	outw(0, CONTROL_A - 1);
	note("a20 done");
	return 0;
}

/* The output port's bit 0 is the processor's reset line. Linux does not survive it. */
int fault_reset(void)
{
	local_irq_disable();
	outb(0xd1, KEYBOARD);
	udelay(50);
	outb(0xfe, KEYBOARD_DATA);
	for (;;)
		cpu_relax();
	return 0;
}

/*
 * Each comparator of the HPET can write a chosen word to a chosen address instead of an interrupt.
 * In legacy replacement mode its first two take over the lines of the timer and of the clock chip,
 * which are silent from then on.
 */
int fault_hpet(void)
{
	u8 __iomem *hpet = ioremap(HPET, PAGE_SIZE);
	u32 address, written = 0;

	if (!hpet)
		return -ENOMEM;
	note("hpet capabilities %x timer %x", readl(hpet), readl(hpet + 0x100));
	writel(HPET_ENABLE | HPET_LEGACY, hpet + 0x10);
	for (address = KERNEL; address < KERNEL_END; address += STEP) {
		writel(0, hpet + 0x100);
		writel(0xcccccccc, hpet + 0x110);
		writel(address, hpet + 0x114);
		writel(1 << 14 | 1 << 6 | 1 << 2, hpet + 0x100);
		writel(readl(hpet + 0xf0) + 100, hpet + 0x108);
		ndelay(1500);
		written++;
	}
	writel(0, hpet + 0x100);
	iounmap(hpet);
	note("hpet %u writes asked for", written);
	return 0;
}

static u32 config(unsigned int bus, unsigned int devfn, u32 at)
{
	outl(1u << 31 | bus << 16 | devfn << 8 | (at & 0xfc), 0xcf8);
	return inl(0xcfc);
}

static void set_config(unsigned int bus, unsigned int devfn, u32 at, u32 value)
{
	outl(1u << 31 | bus << 16 | devfn << 8 | (at & 0xfc), 0xcf8);
	outl(value, 0xcfc);
}

/* Lists the functions on the bus that was unused so far, and makes them bus masters. */
static void look(const char *way)
{
	unsigned int devfn;

	for (devfn = 0; devfn < 256; devfn++) {
		u32 id = config(ELSEWHERE, devfn, 0);

		if ((u16)id == 0xffff)
			continue;
		set_config(ELSEWHERE, devfn, PCI_COMMAND, 7);
		note("bridge foreign function %x by %s, command %x", id, way, config(ELSEWHERE, devfn, PCI_COMMAND));
	}
}

static void renumber(struct pci_dev *bridge)
{
	unsigned int devfn = bridge->devfn, bus = bridge->bus->number;
	u32 other = ELSEWHERE << 16 | ELSEWHERE << 8;
	u32 __iomem *window = ioremap(CONFIGURATION + (bus << 20 | devfn << 12), PAGE_SIZE);
	u32 before = config(bus, devfn, PCI_PRIMARY_BUS);

	set_config(bus, devfn, PCI_PRIMARY_BUS, (before & 0xff0000ff) | other);
	look("port");
	set_config(bus, devfn, PCI_PRIMARY_BUS, before);
	outl(1u << 31 | bus << 16 | devfn << 8 | PCI_PRIMARY_BUS, 0xcf8);
	outb(ELSEWHERE, 0xcfe);
	outb(ELSEWHERE, 0xcfd);
	look("bytes");
	set_config(bus, devfn, PCI_PRIMARY_BUS, before);
	if (window) {
		writel((before & 0xff0000ff) | other, window + PCI_PRIMARY_BUS / 4);
		look("memory");
		writel(before, window + PCI_PRIMARY_BUS / 4);
		iounmap(window);
	}
}

int fault_bridge(void)
{
	struct pci_dev *device = NULL;
	unsigned int count = 0;
	unsigned long flags;

	for_each_pci_dev(device)
		if (device->hdr_type == PCI_HEADER_TYPE_BRIDGE) {
			local_irq_save(flags);
			renumber(device);
			local_irq_restore(flags);
			count++;
		}
	note("bridge %u renumbered", count);
	return 0;
}
