/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The interface of /dev/pillion. Reading returns lines that tasks printed, `[seconds.microseconds]
 * TASK: TEXT`; a read waits for more unless O_NONBLOCK is set, which makes it return 0. Mapped,
 * read-only, it is the window: see pillion_channel.h.
 */
#ifndef PILLION_CONTROL_H
#define PILLION_CONTROL_H

#include <linux/ioctl.h>

#define PILLION_DEVICE "/dev/pillion"

/* A task and its parameters, `NAME=VALUE` separated by blanks. Both end in a zero. */
struct pillion_control_task {
	char name[32];
	char parameters[960];
};

/* Updates the processor times in the window. */
#define PILLION_IOC_REFRESH _IO('P', 1)
/*
 * Starts a task; returns when its init_module has returned. The error is that of init_module, or
 * EBUSY, ENOENT, EINVAL. The file must be open for writing.
 */
#define PILLION_IOC_LOAD _IOW('P', 2, struct pillion_control_task)
/* Ends a task; EBUSY while a process has a FIFO of it open. The file must be open for writing. */
#define PILLION_IOC_UNLOAD _IOW('P', 3, struct pillion_control_task)

#endif
