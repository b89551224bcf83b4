/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands to the resource manager. */
#ifndef COMMAND_H
#define COMMAND_H

#include <linux/types.h>

int command(u32 number, const char *name, const char *more, u64 size);

#endif
