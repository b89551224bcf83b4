// SPDX-License-Identifier: GPL-2.0-only
/* Writes every register that is hidden from Linux, or not Linux's to write. */
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <asm/asm.h>
#include <asm/msr.h>

#include "fault.h"

#define IO_APIC 0xfec00000ull
#define LINES 24

/* Registers that Linux itself depends on: a change here tells nothing about the system below. */
static bool is_vital(u32 number)
{
	switch (number) {
	case 0x10:			/* time-stamp counter */
	case 0x1b:			/* local APIC: where and how */
	case 0x174 ... 0x176:		/* SYSENTER */
	case 0x277:			/* page attributes */
	case 0x6e0:			/* deadline; see the storm */
	case 0x800 ... 0x8ff:		/* local APIC; see the storm */
	case 0xc0000080 ... 0xc0000084:	/* EFER, SYSCALL */
	case 0xc0000100 ... 0xc0000103:	/* segments, TSC_AUX */
		return true;
	}
	return false;
}

static void msrs(u32 first, u32 last)
{
	u32 number, read = 0, written = 0, refused = 0;
	u64 value;

	for (number = first; number <= last; number++) {
		bool there = !rdmsrl_safe(number, &value);

		read += there;
		if (is_vital(number))
			continue;
		if (!there)
			value = 0;
		if (!wrmsrl_safe(number, ~value))
			written++;
		else if (!wrmsrl_safe(number, 0))
			written++;
		else
			refused++;
		wrmsrl_safe(number, value);
		if (!(number & 0xff))
			cond_resched();
	}
	note("registers msr %x-%x read %u written %u refused %u", first, last, read, written, refused);
}

static void port(u16 number)
{
	u8 b = inb(number);
	u16 w = inw(number);
	u32 l = inl(number);

	outb(~b, number);
	outw(~w, number);
	outl(~l, number);
	outb(0, number);
	outb(0xff, number);
	outsb(number, "\x11\x22", 2);
}

/* Writes hidden ports, with accesses that reach into them from below as well. */
static void ports(void)
{
	static const u16 hidden[][2] = { { 0x20, 0x21 }, { 0xa0, 0xa1 }, { 0x2f8, 0x2ff }, { 0xcf8, 0xcfb } };
	unsigned int i, count = 0;
	u32 configuration = inl(0xcf8);
	u16 at;

	for (i = 0; i < ARRAY_SIZE(hidden); i++)
		for (at = hidden[i][0]; at <= hidden[i][1]; at++) {
			if (at == 0xcf9)
				continue;
			port(at);
			outw(0xffff, at - 1);
			outl(0xffffffff, at - 3);
			count++;
		}
	/* Programs the interrupt controller like a BIOS, with vectors of the real-time side. */
	outb(0x11, 0x20);
	outb(0xf0, 0x21);
	outb(0x04, 0x21);
	outb(0x01, 0x21);
	outb(0x00, 0x21);
	/* Non-maskable interrupts on, speaker gate, fast A20. */
	outb(inb(0x61) & ~0x0c, 0x61);
	outl(configuration, 0xcf8);
	note("registers port %u hidden written", count);
}

static void io_apic(void)
{
	void __iomem *window = ioremap(IO_APIC, PAGE_SIZE);
	static const u8 vectors[] = { 0, 0x0f, 0x20, 0xef, 0xf0, 0xfc, 0xfd, 0xfe, 0xff };
	u32 line, mode, v, low, high, count = 0;
	unsigned long flags;

	if (!window)
		return;
	local_irq_save(flags);
	for (line = 0; line < LINES; line++) {
		writel(0x10 + 2 * line, window);
		low = readl(window + 0x10);
		writel(0x11 + 2 * line, window);
		high = readl(window + 0x10);
		for (mode = 0; mode < 8; mode++)
			for (v = 0; v < ARRAY_SIZE(vectors); v++) {
				writel(0x11 + 2 * line, window);
				writel(v << 24, window + 0x10);
				writel(0x10 + 2 * line, window);
				writel((v & 1) << 15 | mode << 8 | vectors[v], window + 0x10);
				count++;
			}
		writel(0x11 + 2 * line, window);
		writel(high, window + 0x10);
		writel(0x10 + 2 * line, window);
		writel(low, window + 0x10);
	}
	local_irq_restore(flags);
	iounmap(window);
	note("registers io-apic %u entries written", count);
}

#define TRY(name, instruction, ...) do {				\
	int refused = 1;						\
	asm volatile("1: " instruction "\n"				\
		     "xor %0, %0\n"					\
		     "2:\n"						\
		     _ASM_EXTABLE(1b, 2b)				\
		     : "+r" (refused) : __VA_ARGS__ : "memory", "cc");	\
	note("registers instruction " name " %s", refused ? "refused" : "done"); \
} while (0)

/* A hypercall that nobody knows. Where there are no hypercalls, there is no such instruction. */
static void hypercall(void)
{
	long result = 0;
	int refused = 1;

	asm volatile("1: vmmcall\n"
		     "xor %0, %0\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (refused), "+a" (result) : : "memory", "cc");
	if (refused)
		note("registers instruction vmmcall refused");
	else
		note("registers instruction vmmcall answered %ld", result);
}

static void instructions(void)
{
	hypercall();
	TRY("vmrun", "vmrun", "a" (0));
	TRY("vmload", "vmload", "a" (0));
	TRY("vmsave", "vmsave", "a" (0));
	TRY("stgi", "stgi", "a" (0));
	TRY("clgi", "clgi", "a" (0));
	TRY("skinit", "skinit", "a" (0));
	TRY("invlpga", "invlpga", "a" (0), "c" (0));
	TRY("monitor", "monitor", "a" (0xffffffff81000000ul), "c" (0), "d" (0));
	TRY("mwait", "mwait", "a" (0), "c" (0));
	TRY("xsetbv-bad", "xsetbv", "a" (6), "c" (0), "d" (0));
	TRY("xsetbv-index", "xsetbv", "a" (7), "c" (1), "d" (0));
	TRY("rdpmc", "rdpmc\n xor %%eax, %%eax\n xor %%edx, %%edx", "c" (0));
	TRY("wbinvd", "wbinvd", "a" (0));
	TRY("invd", "invd", "a" (0));
}

int fault_registers(void)
{
	msrs(0, 0x1fff);
	msrs(0xc0000000, 0xc0001fff);
	msrs(0xc0010000, 0xc0011fff);
	msrs(0x40000000, 0x400000ff);
	msrs(0x4b564d00, 0x4b564d0f);
	ports();
	io_apic();
	instructions();
	note("registers done");
	return 0;
}
