/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Message pipes between a process with threads in primary mode, which owns a pipe through /dev/rtp,
 * and any other process, which opens /dev/rtp0 to /dev/rtp31. What is written at one end in one
 * call is a message at the other.
 */
#ifndef PILLION_PIPE_H
#define PILLION_PIPE_H

#include <linux/ioctl.h>

#define PILLION_PIPE_DEVICE "/dev/rtp"
#define PILLION_PIPES 32
/* Longest message, and bytes that wait in one direction, unless it is one message. */
#define PILLION_PIPE_MESSAGE (1 << 16)
#define PILLION_PIPE_BYTES (1 << 20)

/*
 * The file owns that pipe from now on, or any that is free if the number is -1. Returns the number.
 * EBUSY: another file owns it, or all are owned; EINVAL: there is none, or the file owns one.
 */
#define PILLION_IOC_PIPE_BIND _IO('P', 96)

/* At the other end, as Xenomai has them: its number; drop what it wrote, or did not read. */
#define PILLION_IOC_PIPE_NUMBER _IOW('p', 0, int)
#define PILLION_IOC_PIPE_DROP_WRITTEN _IO('p', 1)
#define PILLION_IOC_PIPE_DROP_UNREAD _IO('p', 2)

#endif
