// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes guest-physical memory that is not Linux's. The memory that Linux's memory map
 * calls reserved holds the kernel below, its pool and its bundle: every page of it is accessed.
 * Elsewhere one page in many is.
 */
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/sched.h>

#include "fault.h"

#define PIECE		(16ull << 20)
#define LOW		(1ull << 20)
#define FOUR_GIB	(4ull << 30)
#define TOP		(64ull << 30)
#define COARSE		(256ull << 10)
#define HIGH		(32ull << 20)
#define LOCAL_APIC	0xfee00000ull
#define MESSAGES_END	0xfef00000ull
#define CONFIGURATION	0xb0000000ull
#define CONFIGURATION_END 0xc0000000ull
#define PATTERN		0x5a5a5a5a

static struct {
	u64 touched;
	u64 visible;
	u64 kept;
} total;

/* Whether the address is in a PCI device's memory: what Linux drives is Linux's. */
static bool is_bar(u64 address)
{
	struct pci_dev *device = NULL;
	bool found = false;
	int i;

	for_each_pci_dev(device)
		for (i = 0; i < PCI_NUM_RESOURCES; i++) {
			struct resource *r = &device->resource[i];

			if (resource_type(r) == IORESOURCE_MEM && r->start <= address && address <= r->end)
				found = true;
		}
	return found;
}

static const struct resource *find(const struct resource *list, u64 address)
{
	for (; list; list = list->sibling)
		if (list->start <= address && address <= list->end)
			return list;
	return NULL;
}

static void touch(void __iomem *at, bool write)
{
	u32 before = readl(at);

	total.touched++;
	if (before != ~0u)
		total.visible++;
	if (!write)
		return;
	writel(PATTERN, at);
	if (readl(at) == PATTERN)
		total.kept++;
	writel(before, at);
}

static void walk(u64 from, u64 to, u64 step, bool write)
{
	u64 piece, address;

	for (piece = from; piece < to; piece += PIECE) {
		u64 size = min(PIECE, to - piece);
		void __iomem *window = ioremap(piece, size);

		if (!window)
			continue;
		for (address = 0; address < size; address += step)
			touch(window + address, write);
		iounmap(window);
		cond_resched();
	}
}

/* Walks one range of the memory map and reports the result. */
static void stretch(const char *name, u64 from, u64 to, u64 step, bool write)
{
	memset(&total, 0, sizeof(total));
	walk(from, to, step, write);
	note("memory %llx-%llx %s touched %llu visible %llu kept %llu", from, to, name, total.touched, total.visible,
	     total.kept);
}

/* Nothing may be visible or kept where only the real-time side has memory. */
static void judge(u64 from, u64 to)
{
	if (total.visible || total.kept)
		note("memory foreign %llx-%llx", from, to);
}

/* End of what is at @address: a resource of the map, or a hole up to the next one. */
static u64 end_of(u64 address, const struct resource *here)
{
	const struct resource *r;
	u64 end = FOUR_GIB;

	if (here)
		return min((u64)here->end + 1, FOUR_GIB);
	for (r = iomem_resource.child; r; r = r->sibling)
		if (r->start > address)
			end = min(end, (u64)r->start);
	return end;
}

static void low(void)
{
	u64 address = LOW;

	while (address < FOUR_GIB) {
		const struct resource *here = find(iomem_resource.child, address);
		u64 end = min(ALIGN(end_of(address, here), PAGE_SIZE), FOUR_GIB);
		const char *name = here ? here->name : "hole";

		if (address >= CONFIGURATION && address < CONFIGURATION_END)
			stretch("configuration", address, end, COARSE, false);
		else if (here && !strcmp(name, "Reserved"))
			stretch("reserved", address, end, PAGE_SIZE, true);
		else if (!here)
			stretch("hole", address, end, end - address > PIECE ? COARSE : PAGE_SIZE, !is_bar(address));
		if (here && !strcmp(name, "Reserved") && address < CONFIGURATION)
			judge(address, end);
		address = end;
	}
}

/*
 * Above 4 GiB: everything that is neither Linux's memory nor a device's. Where no device answers,
 * the machine returns arbitrary values and keeps nothing.
 */
static void high(void)
{
	u64 address;

	memset(&total, 0, sizeof(total));
	for (address = FOUR_GIB; address < TOP; address += HIGH) {
		const struct resource *here = find(iomem_resource.child, address);

		if (!is_bar(address) && (!here || strcmp(here->name, "System RAM")))
			walk(address, address + PAGE_SIZE, PAGE_SIZE, true);
	}
	if (total.kept)
		note("memory foreign %llx-%llx", FOUR_GIB, TOP);
	note("memory high touched %llu visible %llu kept %llu", total.touched, total.visible, total.kept);
}

/* Writes to the addresses of interrupt messages, with every vector and delivery mode. */
static void messages(void)
{
	static const u32 modes[] = { 0, 1, 2, 4, 5, 6 };
	void __iomem *window = ioremap(LOCAL_APIC + PAGE_SIZE, MESSAGES_END - LOCAL_APIC - PAGE_SIZE);
	u32 mode, vector;
	u64 page;

	if (!window)
		return;
	for (page = 0; page < MESSAGES_END - LOCAL_APIC - PAGE_SIZE; page += PAGE_SIZE)
		writel(0xfe, window + page);
	for (mode = 0; mode < ARRAY_SIZE(modes); mode++)
		for (vector = 0xf0; vector <= 0xff; vector++) {
			writel(modes[mode] << 8 | vector, window + 0xfe000);
			writel(modes[mode] << 8 | 1 << 14 | 1 << 15 | vector, window + 0xfe000);
		}
	iounmap(window);
	note("memory messages written");
}

/* Writes every register of the local APIC at its memory address, though Linux uses the MSRs. */
static void local_apic(void)
{
	void __iomem *window = ioremap(LOCAL_APIC, PAGE_SIZE);
	u32 at;

	if (!window)
		return;
	for (at = 0; at < PAGE_SIZE; at += 16)
		writel(readl(window + at) ^ 0xff, window + at);
	iounmap(window);
	note("memory local-apic written");
}

int fault_memory(void)
{
	low();
	high();
	local_apic();
	messages();
	note("memory done");
	return 0;
}
