// SPDX-License-Identifier: GPL-2.0-only
/*
 * Corrupts what Linux shares with the real-time tasks, byte by byte and at random, while they run.
 * What Linux may only read must not change.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/string.h>
#include <asm/processor.h>

#include "fault.h"
#include "pillion_channel.h"

#define RANDOM_WRITES	200000
#define KICK_EVERY	64
#define REST_EVERY	4096

static struct {
	u8 *at;
	u64 size;
} window;

static long hypercall(u64 number, u64 argument)
{
	long result;

	asm volatile("vmmcall" : "=a" (result) : "a" (number), "b" (argument) : "memory");
	return result;
}

static bool find_window(void)
{
	u32 version, gsi, base, pages;

	cpuid(PILLION_CPUID_LEAF, &version, &gsi, &base, &pages);
	if (version != PILLION_CHANNEL_VERSION)
		return false;
	window.size = (u64)pages << PAGE_SHIFT;
	window.at = memremap((u64)base << PAGE_SHIFT, window.size, MEMREMAP_WB);
	return window.at;
}

/* Lets the tasks see the damage: wakes one, and now and then gives all of them time. */
static void show(u64 count, unsigned int task)
{
	if (count % KICK_EVERY == 0)
		hypercall(PILLION_HYPERCALL_KICK, task);
	if (count % REST_EVERY == 0)
		usleep_range(200, 300);
}

/* Writes invalid values to each byte of a range, and leaves the last one. */
static void sweep(u64 from, u64 size, unsigned int task)
{
	static const u8 values[] = { 0xff, 0x00, 0x80, 0x01 };
	unsigned int i;
	u64 byte;

	for (byte = 0; byte < size; byte++)
		for (i = 0; i < ARRAY_SIZE(values); i++) {
			WRITE_ONCE(window.at[from + byte], values[i]);
			show(byte * ARRAY_SIZE(values) + i, task);
		}
}

static void scatter(u64 from, u64 size, unsigned int task)
{
	u64 count;

	for (count = 0; count < RANDOM_WRITES; count++) {
		u32 where = get_random_u32();
		u64 at = from + (where % size & ~7ull);

		if (where & 1 << 31)
			WRITE_ONCE(*(u64 *)(window.at + at), get_random_u64());
		else
			WRITE_ONCE(window.at[at + (where >> 28 & 7)], get_random_u32());
		show(count, task);
	}
}

/* Sends every command number except those that start and stop tasks, with random bytes as text. */
static void commands(struct pillion_command *command)
{
	u32 number;

	for (number = 0; number < 256; number++) {
		get_random_bytes(command, sizeof(*command));
		command->number = number;
		if (number != PILLION_COMMAND_LOAD && number != PILLION_COMMAND_UNLOAD)
			hypercall(PILLION_HYPERCALL_COMMAND, 0);
	}
	for (number = 0; number < 256; number++) {
		hypercall(PILLION_HYPERCALL_KICK, get_random_u64());
		hypercall(PILLION_HYPERCALL_HELLO + 3 + number, get_random_u64());
	}
}

/* Writes to the middle of each page of a read-only range; returns how many pages kept the write. */
static u64 read_only(u64 from, u64 size)
{
	u64 at, kept = 0;

	for (at = from; at < from + size; at += PAGE_SIZE) {
		u8 before = READ_ONCE(window.at[at]);

		WRITE_ONCE(window.at[at], ~before);
		kept += READ_ONCE(window.at[at]) != before;
	}
	return kept;
}

int fault_channel(void)
{
	struct pillion_directory *directory;
	unsigned int i;
	u64 kept;

	if (!find_window()) {
		note("channel: no window");
		return -ENODEV;
	}
	directory = (void *)window.at;
	kept = read_only(0, sizeof(*directory));
	for (i = 0; i < directory->task_count; i++) {
		const struct pillion_task_entry *task = &directory->tasks[i];

		kept += read_only(task->status, sizeof(struct pillion_status));
		sweep(task->share, sizeof(struct pillion_share), i);
		scatter(task->share, task->share_size, i);
		note("channel: task %u corrupted", i);
	}
	sweep(directory->command, sizeof(struct pillion_command), 0);
	commands((void *)(window.at + directory->command));
	scatter(directory->pool, directory->pool_size, 0);
	note("channel: read-only pages written %llu", kept);
	note("channel done");
	memunmap(window.at);
	return 0;
}
