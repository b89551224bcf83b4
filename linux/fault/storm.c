// SPDX-License-Identifier: GPL-2.0-only
/* Floods the machine with interrupts, each way for a while. */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <asm/msr.h>

#include "fault.h"

#define COMMAND		0x830
#define SELF		0x83f
#define DEADLINE	0x6e0
#define PICK		0xf6	/* interrupt work: Linux does nothing with it when there is none */
#define REBOOT		0xf8
#define SYSTEM_CALL	0x80
#define SPURIOUS	0xff	/* Linux does not end it, and would take nothing else afterwards */
#define ALL_SELF	(2u << 18)
#define ALL_OTHERS	(3u << 18)
#define HPET		0xfed00000ull
#define IO_APIC		0xfec00000ull
#define PART_MS		150

static u64 start;
static u32 count;

static void begin(void)
{
	start = rdtsc();
	count = 0;
}

static void end(const char *name)
{
	note("storm %s %u in %u ms", name, count, PART_MS);
}

static void self_interrupts(void)
{
	begin();
	while (within(start, PART_MS)) {
		wrmsrl_safe(COMMAND, 1u << 18 | PICK);
		wrmsrl_safe(SELF, PICK);
		count += 2;
	}
	end("self");
}

/* Vectors that Linux has nothing behind make it complain, but no more. */
static void all_vectors(void)
{
	u32 vector;

	begin();
	while (within(start, PART_MS))
		for (vector = 0x20; vector <= 0xff; vector++)
			if (vector != REBOOT && vector != SYSTEM_CALL && vector != SPURIOUS) {
				wrmsrl_safe(COMMAND, 1u << 18 | vector);
				count++;
			}
	end("vectors");
}

/* Non-maskable, system management, INIT and start-up, to everybody and to nobody. */
static void broadcasts(void)
{
	static const u32 modes[] = { 2, 4, 5, 6 };
	static const u32 targets[] = { ALL_OTHERS, ALL_SELF, 0 };
	u32 i, j;

	begin();
	while (within(start, PART_MS))
		for (i = 0; i < ARRAY_SIZE(modes); i++)
			for (j = 0; j < ARRAY_SIZE(targets); j++) {
				wrmsrl_safe(COMMAND, 0xffffffff00000000ull | targets[j] | modes[i] << 8 | 0xfe);
				count++;
			}
	end("broadcast");
}

static void deadlines(void)
{
	u64 before = 0;

	rdmsrl_safe(DEADLINE, &before);
	begin();
	while (within(start, PART_MS)) {
		wrmsrl_safe(DEADLINE, rdtsc() + 1);
		count++;
	}
	begin();
	while (within(start, PART_MS)) {
		wrmsrl_safe(DEADLINE, count & 1 ? ~0ull : 1);
		count++;
	}
	wrmsrl_safe(DEADLINE, rdtsc() + 1000000);
	end("deadline");
}

static void calls(void)
{
	begin();
	while (within(start, PART_MS)) {
		asm volatile("wbinvd" : : : "memory");
		asm volatile("cpuid" : : "a" (0), "c" (0) : "ebx", "edx");
		inb(0xcf9);
		count += 3;
	}
	end("exits");
}

static u64 entry(void __iomem *window, u32 line)
{
	u64 low;

	writel(0x10 + 2 * line, window);
	low = readl(window + 0x10);
	writel(0x11 + 2 * line, window);
	return low | (u64)readl(window + 0x10) << 32;
}

static void set_entry(void __iomem *window, u32 line, u64 value)
{
	writel(0x10 + 2 * line, window);
	writel(1u << 16, window + 0x10);
	writel(0x11 + 2 * line, window);
	writel(value >> 32, window + 0x10);
	writel(0x10 + 2 * line, window);
	writel(value, window + 0x10);
}

static void clock_register(u8 number, u8 value)
{
	outb(number, 0x70);
	outb(value, 0x71);
}

/*
 * The three old timers at their highest rates, on vectors of different priority. Linux answers each with a complaint about
 * an interrupt that it did not expect, and ends it.
 */
static void timers(void)
{
	void __iomem *hpet = ioremap(HPET, PAGE_SIZE);
	void __iomem *window = ioremap(IO_APIC, PAGE_SIZE);
	static const u8 lines[] = { 2, 8, 20, 21, 22 };
	u64 before[ARRAY_SIZE(lines)];
	u64 now;
	u32 i;

	if (!hpet || !window)
		return;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		before[i] = entry(window, lines[i]);
		set_entry(window, lines[i], 0x91 + 0x10 * i);
	}
	/* Interval timer: 1.19 MHz divided by 2. */
	outb(0x34, 0x43);
	outb(2, 0x40);
	outb(0, 0x40);
	/* Clock: 8 kHz, all interrupts. */
	clock_register(0x0a, 0x23);
	clock_register(0x0b, 0x72);
	/* HPET: three comparators, periodic where they can, as fast as they go. */
	now = readl(hpet + 0xf0);
	for (i = 0; i < 3; i++) {
		writel((20 + i) << 9 | 1 << 6 | 1 << 3 | 1 << 2, hpet + 0x100 + 0x20 * i);
		writel(now + 1000, hpet + 0x108 + 0x20 * i);
		writel(100, hpet + 0x108 + 0x20 * i);
	}
	writel(1, hpet + 0x10);
	begin();
	while (within(start, 2 * PART_MS)) {
		outb(0x0c, 0x70);
		inb(0x71);
		now = readl(hpet + 0xf0);
		for (i = 0; i < 3; i++)
			writel(now + 200, hpet + 0x108 + 0x20 * i);
		count++;
	}
	for (i = 0; i < 3; i++)
		writel(0, hpet + 0x100 + 0x20 * i);
	clock_register(0x0b, 0x02);
	outb(0x30, 0x43);
	outb(0, 0x40);
	outb(0, 0x40);
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		set_entry(window, lines[i], before[i]);
	iounmap(hpet);
	iounmap(window);
	end("timers");
}

int fault_storm(void)
{
	self_interrupts();
	all_vectors();
	broadcasts();
	deadlines();
	calls();
	timers();
	note("storm done");
	return 0;
}
