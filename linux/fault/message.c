// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupt messages of a device with vectors of the real-time side. The random-number device is
 * unbound from its driver and driven by hand (legacy virtio: one queue, one buffer); its message
 * goes wherever the MSI-X table says.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/virtio_ring.h>

#include "fault.h"

#define VENDOR		0x1af4
#define ENTROPY		0x1005
#define PART_MS		40

/* Legacy virtio with MSI-X, offsets in the I/O BAR. */
#define FEATURES	4
#define QUEUE_PAGE	8
#define QUEUE_SIZE	12
#define QUEUE_SELECT	14
#define QUEUE_NOTIFY	16
#define STATUS		18
#define QUEUE_VECTOR	22

static struct vring ring;
static unsigned long io;
static void __iomem *table;

static void __iomem *table_of(struct pci_dev *device, u8 capability)
{
	u32 where;

	pci_read_config_dword(device, capability + PCI_MSIX_TABLE, &where);
	return ioremap(pci_resource_start(device, where & PCI_MSIX_TABLE_BIR) + (where & PCI_MSIX_TABLE_OFFSET), 16);
}

static int set_up(void)
{
	unsigned int size;
	void *pages;

	outb(0, io + STATUS);
	outb(1, io + STATUS);
	outb(3, io + STATUS);
	outl(0, io + FEATURES);
	outw(0, io + QUEUE_SELECT);
	size = inw(io + QUEUE_SIZE);
	pages = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(vring_size(size, PAGE_SIZE)) + 1);
	if (!size || !pages)
		return -ENODEV;
	vring_init(&ring, size, pages, PAGE_SIZE);
	ring.desc[0].addr = virt_to_phys(pages) + (PAGE_SIZE << get_order(vring_size(size, PAGE_SIZE)));
	ring.desc[0].len = 1;
	ring.desc[0].flags = VRING_DESC_F_WRITE;
	outl(virt_to_phys(pages) >> PAGE_SHIFT, io + QUEUE_PAGE);
	outw(0, io + QUEUE_VECTOR);
	outb(7, io + STATUS);
	return inw(io + QUEUE_VECTOR) ? -ENODEV : 0;
}

/* Unbinds the device from its driver. Its messages do not go anywhere yet. */
int message_open(void)
{
	struct pci_dev *device = pci_get_device(VENDOR, ENTROPY, NULL);
	u8 capability;
	u16 command;

	if (!device || !(capability = pci_find_capability(device, PCI_CAP_ID_MSIX))) {
		note("message no device");
		return -ENODEV;
	}
	device_release_driver(&device->dev);
	io = pci_resource_start(device, 0);
	pci_read_config_word(device, PCI_COMMAND, &command);
	pci_write_config_word(device, PCI_COMMAND, command | PCI_COMMAND_MASTER | PCI_COMMAND_IO | PCI_COMMAND_MEMORY);
	pci_write_config_word(device, capability + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
	table = table_of(device, capability);
	if (!table || set_up()) {
		note("message no queue");
		return -ENODEV;
	}
	return 0;
}

void message_aim(u32 data)
{
	message_mask();
	writel(0xfee00000, table + PCI_MSIX_ENTRY_LOWER_ADDR);
	writel(0, table + PCI_MSIX_ENTRY_UPPER_ADDR);
	writel(data, table + PCI_MSIX_ENTRY_DATA);
	writel(0, table + PCI_MSIX_ENTRY_VECTOR_CTRL);
}

void message_mask(void)
{
	writel(1, table + PCI_MSIX_ENTRY_VECTOR_CTRL);
}

/* One at a time: a device that gets more than its queue holds stops. */
void message_send(void)
{
	if (ring.avail->idx != READ_ONCE(ring.used->idx))
		return;
	ring.avail->ring[ring.avail->idx % ring.num] = 0;
	wmb();
	ring.avail->idx++;
	outw(0, io + QUEUE_NOTIFY);
}

static u32 flood(u32 data)
{
	u64 start = rdtsc();
	u16 used = ring.used->idx;

	message_aim(data);
	while (within(start, PART_MS))
		message_send();
	return (u16)(READ_ONCE(ring.used->idx) - used);
}

int fault_message(void)
{
	u16 vector;

	if (message_open())
		return 0;
	note("message exceptions: %u", flood(0x12) + flood(1 << 14 | 1 << 15 | 0x1e));
	for (vector = 0xef; vector <= 0xff; vector++)
		note("message vector %x: %u", vector, flood(vector));
	note("message nmi: %u", flood(4 << 8));
	note("message done");
	return 0;
}
