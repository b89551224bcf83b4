// SPDX-License-Identifier: GPL-2.0-only
/* Floods the machine with interrupts, each way for a while. */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <asm/msr.h>
#include <asm/tsc.h>

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
#define IO_APIC		0xfec00000ull
#define PENDING		0x820
#define PART_MS		150
#define PATIENCE_US	200	/* more than a period of the clock chip */

#define CLOCK		0x70
#define KEYBOARD	0x64
#define KEYBOARD_DATA	0x60
#define KEYBOARD_BUSY	2
#define UART		0x3f8

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

/* Linux complains about vectors without a handler, but no more than that. */
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

/* Sends NMI, SMI, INIT and start-up, to all CPUs and to none. */
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

static void set_clock(u8 number, u8 value)
{
	outb(number, CLOCK);
	outb(value, CLOCK + 1);
}

static u8 clock_value(u8 number)
{
	outb(number, CLOCK);
	return inb(CLOCK + 1);
}

static void keyboard(u8 value, u16 port)
{
	u32 patience = 1000;

	while (inb(KEYBOARD) & KEYBOARD_BUSY && --patience)
		cpu_relax();
	outb(value, port);
}

/* Interval timer: 1.19 MHz divided by 2. It continues by itself. */
static void start_timer(void)
{
	outb(0x34, 0x43);
	outb(2, 0x40);
	outb(0, 0x40);
}

static void stop_timer(void)
{
	outb(0x30, 0x43);
	outb(0, 0x40);
	outb(0, 0x40);
}

static void nothing(void)
{
}

/* Clock: 8 kHz, all interrupts. The next one comes after register C has been read. */
static void start_clock(void)
{
	set_clock(0x0a, 0x23);
	set_clock(0x0b, 0x72);
}

static void kick_clock(void)
{
	clock_value(0x0c);
}

static void stop_clock(void)
{
	set_clock(0x0b, 0x02);
}

static u8 keyboard_before;

/* Keyboard controller: returns a byte as if a key had been pressed, with an interrupt each. */
static void start_keyboard(void)
{
	keyboard(0x20, KEYBOARD);
	keyboard_before = inb(KEYBOARD_DATA);
	keyboard(0x60, KEYBOARD);
	keyboard((keyboard_before | 1) & ~0x10, KEYBOARD_DATA);
}

static void kick_keyboard(void)
{
	inb(KEYBOARD_DATA);
	keyboard(0xd2, KEYBOARD);
	keyboard(0, KEYBOARD_DATA);
}

static void stop_keyboard(void)
{
	inb(KEYBOARD_DATA);
	keyboard(0x60, KEYBOARD);
	keyboard(keyboard_before, KEYBOARD_DATA);
}

static u8 uart_before;

/* Serial port: an empty transmitter raises an interrupt each time its interrupt is enabled. */
static void start_uart(void)
{
	uart_before = inb(UART + 1);
}

static void kick_uart(void)
{
	outb(0, UART + 1);
	outb(2, UART + 1);
}

static void stop_uart(void)
{
	outb(uart_before, UART + 1);
}

#define BY_MESSAGE	0xff

/*
 * The machine's interrupt sources that Linux has, each with a vector of its own priority class, and
 * how often it was seen to fire.
 */
static struct source {
	const char *name;
	u8 line;
	u8 vector;
	void (*start)(void);
	void (*kick)(void);
	void (*stop)(void);
	u64 before;
	u32 fired;
} sources[] = {
	{ "timer", 2, 0x91, start_timer, nothing, stop_timer },
	{ "clock", 8, 0xa1, start_clock, kick_clock, stop_clock },
	{ "keyboard", 1, 0xb1, start_keyboard, kick_keyboard, stop_keyboard },
	{ "uart", 4, 0xc1, start_uart, kick_uart, stop_uart },
	{ "device", BY_MESSAGE, 0xd1, nothing, message_send, message_mask },
};

#define FOR_EACH(source) for (source = sources; source < sources + ARRAY_SIZE(sources); source++)

static bool is_pending(u8 vector)
{
	u64 word = 0;

	rdmsrl_safe(PENDING + vector / 32, &word);
	return word >> vector % 32 & 1;
}

/*
 * Keeps interrupts off until each source has raised one; then all are delivered at once, the most
 * urgent class first. The order is from the least urgent up, because a pending interrupt is in
 * service at the real local APIC and holds back all below it. Each one that was seen is delivered.
 */
static void round_of_all(void)
{
	struct source *source;
	u64 begun;

	local_irq_disable();
	FOR_EACH(source) {
		begun = rdtsc();
		source->kick();
		while (!is_pending(source->vector))
			if (rdtsc() - begun > (u64)PATIENCE_US * tsc_khz / 1000)
				break;
		source->fired += is_pending(source->vector);
	}
	local_irq_enable();
}

/*
 * All sources at their highest rates. Linux reports each interrupt as unexpected, and ends it. The
 * test checks for a silent source: a storm without it would show nothing.
 */
static void all_sources(void)
{
	void __iomem *window = ioremap(IO_APIC, PAGE_SIZE);
	struct source *source;
	u32 i;

	if (!window || message_open()) {
		note("storm source silent: no window or no device");
		return;
	}
	FOR_EACH(source) {
		if (source->line == BY_MESSAGE) {
			message_aim(source->vector);
		} else {
			source->before = entry(window, source->line);
			set_entry(window, source->line, source->vector);
		}
		source->start();
	}
	begin();
	while (within(start, 2 * PART_MS)) {
		for (i = 0; i < 20; i++)
			FOR_EACH(source)
				source->kick();
		round_of_all();
		count++;
	}
	FOR_EACH(source) {
		source->stop();
		if (source->line != BY_MESSAGE)
			set_entry(window, source->line, source->before);
		note("storm source %s %s: %u", source->name, source->fired ? "fired" : "silent", source->fired);
	}
	iounmap(window);
	note("storm rounds %u in %u ms", count, 2 * PART_MS);
}

int fault_storm(void)
{
	self_interrupts();
	all_vectors();
	broadcasts();
	deadlines();
	calls();
	all_sources();
	note("storm done");
	return 0;
}
