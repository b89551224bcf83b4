/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What /dev/pillion-psc takes: functions of a process that run at real-time priority. An open file belongs to the process that first
 * set a handler by it; its handlers end with the file, or with the process's memory. Mapped, shared and writable, it is the share of the
 * task that runs handlers (pillion_channel.h), from its start.
 */
#ifndef PILLION_PSC_H
#define PILLION_PSC_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PILLION_PSC_DEVICE "/dev/pillion-psc"

/*
 * A handler. Each run begins at `entry` with `arguments` in rdi and rsi, the stack pointer at `stack`, and the FS base of the thread
 * that asked; it ends with VMMCALL, PILLION_PSC_DONE in rax. All memory that it touches has to be locked.
 */
struct pillion_psc_handler {
	/* Any number by which the process knows it. */
	__u32 id;
	/* PILLION_PSC_ONESHOT, PILLION_PSC_LINE. */
	__u32 flags;
	__u64 period_ns;
	__u64 line;
	__u64 entry;
	__u64 stack;
	__u64 arguments[2];
};

struct pillion_psc_state {
	__u32 id;
	/* As in struct pillion_psc_slot. */
	__u32 state;
	__u32 vector;
	__u32 reserved;
	__u64 address;
	__u64 rip;
	__u64 runs;
	__u64 overruns;
	__u64 latency_max_ns;
};

struct pillion_psc_ring {
	__u32 number;
	/* 0: the FIFO is to go. */
	__u32 size;
};

/* Starts a handler, in place of the one with that number. */
#define PILLION_IOC_PSC_SET _IOW('P', 16, struct pillion_psc_handler)
/* Ends a handler. */
#define PILLION_IOC_PSC_CLEAR _IOW('P', 17, __u32)
/* Tells about a handler, by its number. */
#define PILLION_IOC_PSC_STATE _IOWR('P', 18, struct pillion_psc_state)
/* Makes or ends a FIFO for handlers. */
#define PILLION_IOC_PSC_FIFO _IOW('P', 19, struct pillion_psc_ring)

#endif
