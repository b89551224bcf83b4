/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* The interface of /dev/mbuff: the protocol of RTLinux's shared memory. */
#ifndef PILLION_MBUFF_H
#define PILLION_MBUFF_H

#include <linux/ioctl.h>
#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#endif

#define MBUFF_NAME_LEN 32
#define MBUFF_DEV_NAME "/dev/mbuff"

/*
 * I/O controls. Each names an area; the result is its size, or negative. INFO describes it; SELECT
 * makes it the one that mmap, read, write and lseek of this open file use. ALLOCATE makes it if
 * need be, counts one more user and selects it; the count outlives the file. DEALLOCATE drops one
 * user.
 *
 * RTLinux's number for DEALLOCATE was 2, which never reaches a driver: Linux itself handles it
 * (FIGETBSZ). Programs that use the name get the number below.
 */
#define IOCTL_MBUFF_INFO 0
#define IOCTL_MBUFF_ALLOCATE 1
#define IOCTL_MBUFF_DEALLOCATE _IO('m', 2)
#define IOCTL_MBUFF_SELECT 3

struct mbuff_request_struct {
	unsigned int flags;
	char name[MBUFF_NAME_LEN + 1];
	size_t size;
	/* After INFO: users in Linux, mappings in Linux, users in tasks, zero. */
	unsigned int reserved[4];
};

#endif
