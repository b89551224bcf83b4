/* SPDX-License-Identifier: GPL-2.0-only */
/* Areas of shared memory that Linux holds. */
#ifndef AREA_H
#define AREA_H

#include <linux/types.h>
#include <pillion_mbuff.h>

struct seq_file;

/*
 * An area, and why Linux holds it: counted users, open files that selected it, mappings. Without
 * any of these it is released.
 */
struct area {
	char name[MBUFF_NAME_LEN + 1];
	/* Offset in the pool. */
	u64 offset;
	u64 size;
	unsigned int users;
	unsigned int files;
	unsigned int maps;
};

struct area *area_make(const char *name, u64 size);
struct area *area_find(const char *name);
void area_put(struct area *area, unsigned int *count);
void area_map(struct area *area);
struct area *area_of(struct area *const *selected);
struct area *area_select(struct area **selected, struct area *area);
int area_drop(const char *name);
void area_info(struct area *area, struct mbuff_request_struct *request);
int area_show(struct seq_file *out, void *unused);
void area_close(void);

#endif
