// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices whose memory lies above 4 GiB. Linux's own devices work. Neither their memory nor a
 * bridge's window can be moved over anything that is not Linux's, whichever half of a register is
 * written first, in whatever width.
 */
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/pci.h>

#include "fault.h"

#define FOUR_GIB	(4ull << 30)
#define PATTERN		0x5a5a5a5a
#define IVSHMEM		0x1110
#define WINDOW		0xfff00000u
/*
 * An address above 4 GiB with this lower half looks free to a check of that half alone, because the
 * lower half lies in a hole.
 */
#define IN_A_HOLE	0x90000000u

struct bar {
	struct pci_dev *device;
	int at;
	u64 size;
	u32 low;
	u32 high;
};

static unsigned int tries, foreign, reserved;

static bool is_high(const struct resource *r)
{
	return resource_type(r) == IORESOURCE_MEM && r->start >= FOUR_GIB && r->flags & IORESOURCE_MEM_64;
}

/* Whether the page at an address keeps what is written, be it a device's memory or not. */
static bool keeps(u64 address)
{
	void __iomem *page = ioremap(address, PAGE_SIZE);
	u32 before;
	bool kept;

	if (!page)
		return false;
	before = readl(page);
	writel(PATTERN, page);
	kept = readl(page) == PATTERN;
	writel(before, page);
	iounmap(page);
	return kept;
}

/* The resource after @r in a walk of the tree. */
static struct resource *next(struct resource *r)
{
	if (r->child)
		return r->child;
	while (!r->sibling && r->parent)
		r = r->parent;
	return r->sibling;
}

/* Memory above 4 GiB that belongs to none of Linux's devices. */
static bool is_memory(const struct resource *r)
{
	return r->end >= FOUR_GIB && (!strcmp(r->name, "Reserved") || !strcmp(r->name, "System RAM"));
}

static u64 start(const struct resource *r)
{
	return max_t(u64, r->start, FOUR_GIB);
}

static bool overlap(u64 base, u64 last, const struct resource *r)
{
	return base <= last && base <= r->end && start(r) <= last;
}

static void decode(struct pci_dev *device, bool on)
{
	u16 command;

	pci_read_config_word(device, PCI_COMMAND, &command);
	command = on ? command | PCI_COMMAND_MEMORY : command & ~PCI_COMMAND_MEMORY;
	pci_write_config_word(device, PCI_COMMAND, command);
}

static void by_bytes(const struct bar *bar, int at, u32 value)
{
	int i;

	for (i = 0; i < 4; i++)
		pci_write_config_byte(bar->device, at + i, value >> (8 * i));
}

static void place(const struct bar *bar, u32 low, u32 high, int way)
{
	switch (way) {
	case 0:
		pci_write_config_dword(bar->device, bar->at, low);
		pci_write_config_dword(bar->device, bar->at + 4, high);
		break;
	case 1:
		pci_write_config_dword(bar->device, bar->at + 4, high);
		pci_write_config_dword(bar->device, bar->at, low);
		break;
	case 2:
		by_bytes(bar, bar->at + 4, high);
		by_bytes(bar, bar->at, low);
		break;
	default:
		decode(bar->device, false);
		pci_write_config_dword(bar->device, bar->at, low);
		pci_write_config_dword(bar->device, bar->at + 4, high);
		decode(bar->device, true);
	}
}

/* Tries to move a device's memory over @r, in four ways. */
static void move(const struct bar *bar, const struct resource *r)
{
	u64 target = start(r) & ~(bar->size - 1), base;
	u32 low, high;
	u16 command;
	int way;

	for (way = 0; way < 4; way++, tries++) {
		place(bar, target, target >> 32, way);
		pci_read_config_dword(bar->device, bar->at, &low);
		pci_read_config_dword(bar->device, bar->at + 4, &high);
		pci_read_config_word(bar->device, PCI_COMMAND, &command);
		base = (u64)high << 32 | (low & ~0xf);
		if (command & PCI_COMMAND_MEMORY && overlap(base, base + bar->size - 1, r)) {
			note("bars foreign %llx at %llx, way %d", start(r), base, way);
			foreign++;
		}
		decode(bar->device, false);
		pci_write_config_dword(bar->device, bar->at, bar->low);
		pci_write_config_dword(bar->device, bar->at + 4, bar->high);
		decode(bar->device, true);
	}
}

static void set_window(struct pci_dev *bridge, u32 low, u32 base, u32 limit)
{
	/* Closed while the halves do not match. */
	pci_write_config_dword(bridge, PCI_PREF_LIMIT_UPPER32, 0);
	pci_write_config_dword(bridge, PCI_PREF_MEMORY_BASE, 0xfff0);
	pci_write_config_dword(bridge, PCI_PREF_BASE_UPPER32, base);
	pci_write_config_dword(bridge, PCI_PREF_LIMIT_UPPER32, limit);
	pci_write_config_dword(bridge, PCI_PREF_MEMORY_BASE, low);
}

/*
 * Tries to open a bridge's window over @r. @type is the type that is written to the lower half, a
 * read-only field which says whether there is an upper one.
 */
static void open_window(struct pci_dev *bridge, const struct resource *r, u32 type)
{
	u32 before, base_before, limit_before, low, high, end;
	u64 base, last, target = (start(r) & ~0xffffffffull) | IN_A_HOLE;

	pci_read_config_dword(bridge, PCI_PREF_MEMORY_BASE, &before);
	pci_read_config_dword(bridge, PCI_PREF_BASE_UPPER32, &base_before);
	pci_read_config_dword(bridge, PCI_PREF_LIMIT_UPPER32, &limit_before);
	if ((before & PCI_PREF_RANGE_TYPE_MASK) != PCI_PREF_RANGE_TYPE_64 || !overlap(target, target, r))
		return;
	set_window(bridge, IN_A_HOLE | IN_A_HOLE >> 16 | type << 16 | type, target >> 32, target >> 32);
	pci_read_config_dword(bridge, PCI_PREF_MEMORY_BASE, &low);
	pci_read_config_dword(bridge, PCI_PREF_BASE_UPPER32, &high);
	pci_read_config_dword(bridge, PCI_PREF_LIMIT_UPPER32, &end);
	base = (u64)high << 32 | (low & 0xfff0) << 16;
	last = (u64)end << 32 | (low & WINDOW) | 0xfffff;
	if (overlap(base, last, r)) {
		note("bars foreign %llx in window %llx-%llx, type %u", start(r), base, last, type);
		foreign++;
	}
	set_window(bridge, before, base_before, limit_before);
	tries++;
}

static void attack(const struct bar *bar, const struct resource *r)
{
	struct pci_dev *bridge = NULL;

	move(bar, r);
	for_each_pci_dev(bridge)
		if (bridge->hdr_type == PCI_HEADER_TYPE_BRIDGE) {
			open_window(bridge, r, 0);
			open_window(bridge, r, 1);
		}
}

static void use(struct pci_dev *device, int number)
{
	struct resource *of = &device->resource[number], *r;
	struct bar bar = { device, PCI_BASE_ADDRESS_0 + 4 * number, resource_size(of) };

	pci_read_config_dword(device, bar.at, &bar.low);
	pci_read_config_dword(device, bar.at + 4, &bar.high);
	note("bars %s: %s, at %llx-%llx", pci_name(device),
	     keeps(of->start) && keeps(of->end + 1 - PAGE_SIZE) ? "works" : "unreachable", (u64)of->start, (u64)of->end);
	for (r = iomem_resource.child; r; r = next(r))
		if (is_memory(r))
			attack(&bar, r);
	if (!keeps(of->start))
		note("bars foreign: the device is not where it was");
}

int fault_bars(void)
{
	struct pci_dev *device = NULL;
	struct resource *r;
	int i;

	/* A device that is only memory, without a driver. */
	while ((device = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, IVSHMEM, device)))
		for (i = 0; i < PCI_STD_NUM_BARS; i++)
			if (is_high(&device->resource[i]))
				use(device, i);
	for (r = iomem_resource.child; r; r = next(r))
		if (is_memory(r) && strcmp(r->name, "System RAM")) {
			note("bars reserved %llx-%llx", start(r), (u64)r->end);
			reserved++;
			if (keeps(start(r)) || keeps(r->end + 1 - PAGE_SIZE))
				note("bars foreign memory %llx", start(r));
		}
	note("bars done, %u reserved, %u tries, %u foreign", reserved, tries, foreign);
	return 0;
}
