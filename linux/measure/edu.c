// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU's edu device, which raises an interrupt whenever one of its registers is written. See
 * docs/specs/edu in QEMU's source.
 */
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <asm/msr.h>

#include "source.h"

#define EDU_VENDOR	0x1234
#define EDU_DEVICE	0x11e8

#define EDU_STATUS	0x24
#define EDU_ACKNOWLEDGE	0x64

static struct pci_dev *found;
static void __iomem *registers;

static irqreturn_t edu_interrupt(int irq, void *data)
{
	u64 handled = rdtsc_ordered();
	u32 status = readl(registers + EDU_STATUS);

	if (!status)
		return IRQ_NONE;
	writel(status, registers + EDU_ACKNOWLEDGE);
	arrived(0, handled);
	return IRQ_HANDLED;
}

bool edu_found(void)
{
	return found;
}

/* Maps the registers, for a process that raises the interrupt from user mode. */
int edu_mmap(struct vm_area_struct *area)
{
	if (!found)
		return -ENODEV;
	area->vm_page_prot = pgprot_noncached(area->vm_page_prot);
	return vm_iomap_memory(area, pci_resource_start(found, 0), PAGE_SIZE);
}

static int edu_probe(struct pci_dev *device, const struct pci_device_id *id)
{
	int error = pcim_enable_device(device);

	if (error)
		return error;
	error = pcim_iomap_regions(device, BIT(0), "measure");
	if (error)
		return error;
	registers = pcim_iomap_table(device)[0];
	/*
	 * The device's line, as a real-time task has it, instead of a message. The handler itself
	 * is measured, so it must not become a thread.
	 */
	error = request_irq(device->irq, edu_interrupt, IRQF_NO_THREAD | IRQF_SHARED, "measure", device);
	if (error)
		return error;
	found = device;
	return 0;
}

static void edu_remove(struct pci_dev *device)
{
	found = NULL;
	free_irq(device->irq, device);
}

static const struct pci_device_id devices[] = {
	{ PCI_DEVICE(EDU_VENDOR, EDU_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, devices);

static struct pci_driver driver = {
	.name = "measure",
	.id_table = devices,
	.probe = edu_probe,
	.remove = edu_remove,
};

int edu_init(void)
{
	return pci_register_driver(&driver);
}

void edu_exit(void)
{
	pci_unregister_driver(&driver);
}
