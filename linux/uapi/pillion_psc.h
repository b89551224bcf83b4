/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The interface of /dev/pillion-psc: functions of a process that run at real-time priority. An open
 * file belongs to the process that first set a handler or made a FIFO through it, and refuses
 * others (EPERM). Its handlers end with the file, or with the process's memory; its FIFOs end with
 * the file. Mapped, shared and writable, the file gives a FIFO that was made through it, from its
 * control words (struct pillion_fifo_control) on: FIFO n is at offset n << PILLION_PSC_FIFO_SHIFT.
 * The places of its rings, from there on, are in the task's status (struct pillion_fifo_entry:
 * to_linux - control, to_task - control).
 */
#ifndef PILLION_PSC_H
#define PILLION_PSC_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PILLION_PSC_DEVICE "/dev/pillion-psc"
#define PILLION_PSC_FIFO_SHIFT 32

/*
 * A handler. Each run begins at `entry` with `arguments` in rdi and rsi, the stack pointer at
 * `stack`, and the FS base of the requesting thread; it ends with VMMCALL and PILLION_PSC_DONE in
 * rax. All memory that it accesses must be locked.
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
	/* 0 ends the FIFO. */
	__u32 size;
};

/*
 * Starts a handler, in place of the one with that number. Needs CAP_SYS_NICE, at each call. If the
 * task refuses it, the previous handler has ended; if the call is invalid or not permitted, the
 * previous handler continues.
 */
#define PILLION_IOC_PSC_SET _IOW('P', 16, struct pillion_psc_handler)
/* Ends a handler. */
#define PILLION_IOC_PSC_CLEAR _IOW('P', 17, __u32)
/* Reports the state of a handler, by its number. */
#define PILLION_IOC_PSC_STATE _IOWR('P', 18, struct pillion_psc_state)
/* Makes a FIFO for handlers, or ends one that this file made and nothing maps (EBUSY). */
#define PILLION_IOC_PSC_FIFO _IOW('P', 19, struct pillion_psc_ring)

#endif
