/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines that tasks printed, for `pillion dmesg`. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <linux/poll.h>
#include <linux/types.h>

struct file;

void journal_add(const char *task, const char *text);
ssize_t journal_read(struct file *file, char __user *buffer, size_t count, loff_t *offset);
__poll_t journal_poll(struct file *file, poll_table *table);

#endif
