// SPDX-License-Identifier: GPL-2.0-only
/* Copies what tasks print to the kernel's log and the journal, line by line. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/workqueue.h>

#include "journal.h"
#include "log.h"
#include "window.h"

#define LOG_SIZE PILLION_CHANNEL_LOG_SIZE
#define LINE 240

/* How long to wait before showing an unfinished line. */
#define PATIENCE HZ

/* How far a task's log was copied. */
struct reader {
	u64 at;
	unsigned int length;
	unsigned long since;
	char line[LINE + 1];
	struct ratelimit_state limit;
	/* Threads already reported as using all their time, by bit. */
	u64 told;
};

static struct reader readers[PILLION_CHANNEL_TASKS];

static void copy_all(struct work_struct *work);
static DECLARE_DELAYED_WORK(copying, copy_all);

/*
 * Length of the UTF-8 character at the beginning of a text, or 0 if it is invalid or could affect a
 * terminal. A byte beyond the text ends it, because that is 0.
 */
static unsigned int character(const unsigned char *text)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int i, size = 1;
	u32 code = text[0];

	if (code >= 0x80) {
		size = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2;
		if (code < 0xc0 || code >= 0xf8)
			return 0;
		code &= 0x7f >> size;
	}
	for (i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return code == '\t' || (code >= ' ' && (code < 0x7f || code >= 0xa0)) ? size : 0;
}

/* Makes control characters, of 7 or 8 bits, and bytes outside of characters question marks. */
static void clean(char *line)
{
	unsigned char *at = line;

	while (*at) {
		unsigned int size = character(at);

		if (!size)
			*at = '?';
		at += size ?: 1;
	}
}

/* Shows the line. The kernel's log is shared: no task may flood it. The journal is for tasks. */
static void show(const struct task *task, struct reader *reader)
{
	reader->line[reader->length] = '\0';
	reader->length = 0;
	clean(reader->line);
	journal_add(task->name, reader->line);
	if (__ratelimit(&reader->limit))
		pr_info("%s: %s\n", task->name, reader->line);
}

static void add(const struct task *task, struct reader *reader, unsigned char c)
{
	if (c == '\n') {
		show(task, reader);
		return;
	}
	if (!reader->length)
		reader->since = jiffies;
	/* A zero would end the line. */
	reader->line[reader->length++] = c ?: '?';
	if (reader->length == LINE)
		show(task, reader);
}

/* The first byte not yet copied and still there. The task wrote the counter, perhaps wrongly. */
static u64 skip(const struct task *task, struct reader *reader, u64 written)
{
	if (written - reader->at > LOG_SIZE) {
		if (__ratelimit(&reader->limit))
			pr_info("%s: (lines are missing)\n", task->name);
		journal_add(task->name, "(lines are missing)");
		reader->at = written - LOG_SIZE;
	}
	return reader->at;
}

static void copy_one(const struct task *task, struct reader *reader)
{
	/* Pairs with the release after the bytes were written. */
	u64 written = smp_load_acquire(&task->status->log_written);
	u64 at = skip(task, reader, written);

	for (; at != written; at++)
		add(task, reader, READ_ONCE(task->status->log[at % LOG_SIZE]));
	reader->at = written;
	if (reader->length && time_after_eq(jiffies, reader->since + PATIENCE))
		show(task, reader);
	if (reader->length)
		schedule_delayed_work(&copying, PATIENCE);
}

/* Reports each thread that uses all of its time, once until it stops doing so. */
static void tell_busy(const struct task *task, struct reader *reader)
{
	u64 busy = READ_ONCE(window.directory->tasks[task->index].busy);
	u64 new = busy & ~reader->told;
	char line[LINE];

	for (reader->told = busy; new; new &= new - 1) {
		snprintf(line, sizeof(line), "thread %lu uses all the time that it may have: is it in an endless loop?",
			 __ffs64(new));
		journal_add(task->name, line);
		if (__ratelimit(&reader->limit))
			pr_warn("%s: %s\n", task->name, line);
	}
}

static void copy_all(struct work_struct *work)
{
	unsigned int i;

	for (i = 0; i < window.task_count; i++) {
		copy_one(&window.tasks[i], &readers[i]);
		tell_busy(&window.tasks[i], &readers[i]);
	}
}

/* Begins with what is still in the tasks' logs from before. */
void log_open(void)
{
	unsigned int i;
	u64 written;

	for (i = 0; i < window.task_count; i++) {
		written = READ_ONCE(window.tasks[i].status->log_written);
		readers[i].at = written > LOG_SIZE ? written - LOG_SIZE : 0;
		ratelimit_state_init(&readers[i].limit, 5 * HZ, 1000);
	}
	log_ring();
}

/* A task has printed something. */
void log_ring(void)
{
	mod_delayed_work(system_wq, &copying, 0);
}

/* Reads everything printed so far. */
void log_settle(void)
{
	log_ring();
	flush_delayed_work(&copying);
}

void log_close(void)
{
	cancel_delayed_work_sync(&copying);
}
