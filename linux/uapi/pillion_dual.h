/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The interface of /dev/pillion-dual: threads of ordinary processes that run on the real-time side
 * (primary mode) until they need Linux (secondary mode).
 *
 * A process that is marked keeps its mark when it executes another program, and loses it when it
 * ends; a child does not inherit it. From then on, each of its threads with the policy SCHED_FIFO
 * or SCHED_RR enters primary mode in a system call that primary mode answers.
 */
#ifndef PILLION_DUAL_H
#define PILLION_DUAL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PILLION_DUAL_DEVICE "/dev/pillion-dual"

/* Flags of a mark: send SIGXCPU, with the reason, at each unwanted switch to Linux. */
#define PILLION_DUAL_WARN 1

struct pillion_dual_mark {
	__u32 flags;
	__u32 reserved;
};

/* Modes of a thread. */
#define PILLION_DUAL_SECONDARY 0
#define PILLION_DUAL_PRIMARY 1

/* Reasons why a thread left primary mode: indices of `left`. */
#define PILLION_DUAL_LEFT_RECALL 0
#define PILLION_DUAL_LEFT_CALL 1
#define PILLION_DUAL_LEFT_FAULT 2
#define PILLION_DUAL_LEFT_EXCEPTION 3
#define PILLION_DUAL_LEFT_INSTRUCTION 4
#define PILLION_DUAL_LEFT_REFUSED 5
#define PILLION_DUAL_LEFT_REASONS 6

/* System calls that took a thread to Linux: the most frequent ones are kept. */
#define PILLION_DUAL_CALLS 6

struct pillion_dual_call {
	__u32 number;
	__u32 count;
};

/* A thread that was in primary mode at least once. */
struct pillion_dual_thread {
	/* Thread and process, as the caller numbers them. */
	__u32 thread;
	__u32 process;
	__u32 mode;
	__u32 priority;
	/* How often it entered primary mode. */
	__u64 entries;
	/* How often it left it, by reason. */
	__u64 left[PILLION_DUAL_LEFT_REASONS];
	struct pillion_dual_call calls[PILLION_DUAL_CALLS];
	/* System calls answered in primary mode, and those of them that waited. */
	__u64 answered;
	__u64 waits;
	/* Processor time in primary mode and in Linux, in nanoseconds. */
	__u64 primary_ns;
	__u64 secondary_ns;
	/* Periods in which its budget was used up. */
	__u64 exhausted;
	/* Longest time from the end of a wait to the thread's next instruction, in nanoseconds. */
	__u64 latency_max_ns;
	char name[16];
};

/* Reads thread number `index`, from 0; -ENOENT: there are no more. */
struct pillion_dual_look {
	__u32 index;
	__u32 reserved;
	struct pillion_dual_thread thread;
};

/*
 * Marks the calling process. Needs CAP_SYS_NICE, or an RLIMIT_RTPRIO above 0 (EPERM); all threads
 * of a process share a mark, and a later one replaces its flags.
 */
#define PILLION_IOC_DUAL_MARK _IOW('P', 24, struct pillion_dual_mark)
/* Removes the calling process's mark: its threads return to Linux and stay there. */
#define PILLION_IOC_DUAL_UNMARK _IO('P', 25)
#define PILLION_IOC_DUAL_LOOK _IOWR('P', 26, struct pillion_dual_look)

#endif
