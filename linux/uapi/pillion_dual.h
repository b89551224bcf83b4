/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The interface of /dev/pillion-dual: threads of ordinary processes that run on the real-time side
 * (primary mode) until they need Linux (secondary mode).
 *
 * A process that is marked keeps its mark when it executes another program, and loses it when it
 * ends; a child does not inherit it. From then on, each of its threads with the policy SCHED_FIFO
 * or SCHED_RR enters primary mode in a system call that waits, if primary mode answers that.
 */
#ifndef PILLION_DUAL_H
#define PILLION_DUAL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PILLION_DUAL_DEVICE "/dev/pillion-dual"
/* Begins with 1 if the vDSO reads the clocks in primary mode as well. */
#define PILLION_DUAL_VDSO "/sys/class/misc/pillion-dual/vdso"

/*
 * Flags of a mark: send SIGXCPU at each unwanted switch to Linux; note where it was. The last one
 * is the first for the calling thread alone.
 */
#define PILLION_DUAL_WARN 1
#define PILLION_DUAL_REPORT 2
#define PILLION_DUAL_WARN_THREAD 4

struct pillion_dual_mark {
	/* Flags that the process gets, and flags that it loses first. */
	__u32 flags;
	__u32 clear;
};

/*
 * `si_int` of such a SIGXCPU: the mark and a reason, as in Xenomai. With the last reason it is sent
 * without the flag, too.
 */
#define PILLION_DUAL_DEBUG_MARK 0xfccf0000
/* A signal of Linux. */
#define PILLION_DUAL_DEBUG_SIGNAL 1
/* A system call that primary mode does not answer. */
#define PILLION_DUAL_DEBUG_CALL 2
/* A page fault, another exception, or an instruction that primary mode does not offer. */
#define PILLION_DUAL_DEBUG_FAULT 3
/* Priority inversion: it waits for a mutex whose owner is in Linux. */
#define PILLION_DUAL_DEBUG_INVERSION 4
/* The process's memory cannot be pinned, so that none of its threads enters primary mode. */
#define PILLION_DUAL_DEBUG_MEMORY 5
/* The thread computed for too long without waiting (`watchdog_ms` of the system file). */
#define PILLION_DUAL_DEBUG_WATCHDOG 6

/*
 * A system call that is answered in primary mode: whether Linux lives. Linux itself, which does
 * live, has no such call (ENOSYS).
 */
#define PILLION_DUAL_CALL_LIFE 0x50490200
#define PILLION_DUAL_LINUX_LIVES 0
/* It panicked, and has not ended yet. */
#define PILLION_DUAL_LINUX_PANICKED 1
/*
 * It has ended: threads that need no Linux run on for `linger_ms` of the system file, or for the
 * pause before a restart if that is longer.
 */
#define PILLION_DUAL_LINUX_ENDED 2

#ifndef __KERNEL__
/* Whether Linux lives, as a thread in either mode sees it. It never leads to the other mode. */
static inline int pillion_dual_linux(void)
{
	long life = PILLION_DUAL_CALL_LIFE;

	__asm__ volatile("syscall" : "+a" (life) : : "rcx", "r11", "memory");
	return life < 0 ? PILLION_DUAL_LINUX_LIVES : (int)life;
}
#endif

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
#define PILLION_DUAL_LEFT_WATCHDOG 6
#define PILLION_DUAL_LEFT_REASONS 7

/* What kept real-time threads of a process from primary mode when they waited: numbers of bits. */
/* Its memory is more than RLIMIT_MEMLOCK, more than half of Linux's, or another process's too. */
#define PILLION_DUAL_OBSTACLE_LIMIT 0
#define PILLION_DUAL_OBSTACLE_SIZE 1
#define PILLION_DUAL_OBSTACLE_MEMORY 2
/* All threads of [dual] were in use. */
#define PILLION_DUAL_OBSTACLE_THREADS 3
/* The thread's affinity excludes the processor that dual mode is on. */
#define PILLION_DUAL_OBSTACLE_AFFINITY 4
/* It was traced; its system calls are filtered (seccomp) or handed to a handler. */
#define PILLION_DUAL_OBSTACLE_TRACED 5
#define PILLION_DUAL_OBSTACLE_FILTERED 6
/* It has segments, a shadow stack or the trap flag, which are not carried. */
#define PILLION_DUAL_OBSTACLE_STATE 7
/* It is in a time namespace with clocks of its own. */
#define PILLION_DUAL_OBSTACLE_CLOCKS 8
/* The task of dual mode has ended. */
#define PILLION_DUAL_OBSTACLE_TASK 9
/* It is another user's than when it was marked, or has rights that it did not have then. */
#define PILLION_DUAL_OBSTACLE_RIGHTS 10
#define PILLION_DUAL_OBSTACLES 11

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
	/*
	 * Processor time in primary mode and in Linux, in nanoseconds. While the thread is in
	 * primary mode, that and `exhausted` are as of the last PILLION_IOC_REFRESH of
	 * /dev/pillion.
	 */
	__u64 primary_ns;
	__u64 secondary_ns;
	/* Periods in which its budget was used up. */
	__u64 exhausted;
	/*
	 * Points of time that had passed before it waited for them in primary mode: of absolute
	 * sleeps, and of releases and expirations beside the first.
	 */
	__u64 overruns;
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

/* Frames and files of a place, bytes of a file's path, and a frame that is in no file. */
#define PILLION_DUAL_FRAMES 24
#define PILLION_DUAL_FILES 6
#define PILLION_DUAL_PATH 160
#define PILLION_DUAL_NO_FILE 0xffffffff

/* It is the instruction, or frame pointers lead to it; others may be left from earlier calls. */
#define PILLION_DUAL_FRAME_SURE 1

/* An instruction, or one behind a call, and where it is in a file. */
struct pillion_dual_frame {
	__u64 address;
	__u64 offset;
	__u32 file;
	__u32 flags;
};

/* Where the first thread left primary mode for that reason: innermost frame first. */
struct pillion_dual_place {
	__u32 thread;
	__u32 process;
	__u32 reason;
	/* The system call, or the exception. */
	__u32 number;
	/* Of a page fault. */
	__u64 address;
	__u32 frame_count;
	__u32 file_count;
	struct pillion_dual_frame frames[PILLION_DUAL_FRAMES];
	char files[PILLION_DUAL_FILES][PILLION_DUAL_PATH];
};

/* Reads place number `index`, from 0, of the processes that were marked by this open file. */
struct pillion_dual_look_place {
	__u32 index;
	__u32 reserved;
	struct pillion_dual_place place;
};

/* Bytes of a name, with at least one zero at its end. */
#define PILLION_DUAL_NAME 48

/* Flags of an open: make the object if there is none; there must be none. */
#define PILLION_DUAL_OPEN_CREATE 1
#define PILLION_DUAL_OPEN_EXCLUSIVE 2

/*
 * An object with a name, which processes share. Its kind, value and flags are those of
 * PILLION_DUAL_OBJECT_... in pillion_channel.h. Of one that is made, `mode` says who may open it,
 * as for a file, less the process's umask; opening needs the right to read and to write.
 */
struct pillion_dual_open {
	char name[PILLION_DUAL_NAME];
	__u32 kind;
	__u32 flags;
	__u32 mode;
	__u32 object_flags;
	__u64 value;
};

/*
 * Marks the calling process. Needs CAP_SYS_NICE, or an RLIMIT_RTPRIO above 0 (EPERM); all threads
 * of a process share a mark, and a later one changes the flags that it names.
 */
#define PILLION_IOC_DUAL_MARK _IOW('P', 24, struct pillion_dual_mark)
/* Removes the calling process's mark: its threads return to Linux and stay there. */
#define PILLION_IOC_DUAL_UNMARK _IO('P', 25)
#define PILLION_IOC_DUAL_LOOK _IOWR('P', 26, struct pillion_dual_look)
#define PILLION_IOC_DUAL_PLACE _IOWR('P', 40, struct pillion_dual_look_place)
/* Reads the obstacles of the processes that were marked by this open file, each a bit. */
#define PILLION_IOC_DUAL_OBSTACLES _IOR('P', 41, __u32)
/*
 * Primary mode's own system call with that number, PILLION_DUAL_SERVICE_... of pillion_channel.h,
 * for a thread in secondary mode, in a process with a mark (EPERM). The arguments are in the same
 * registers, rdx, r10, r8 and r9, so the file and this number can be in rdi and rsi for both. A
 * thread that may be in primary mode is there afterwards. ENOSYS: the thread came back to Linux,
 * and has to make this call again. EAGAIN: there is no room for another process or thread with
 * objects, another marked process has the same memory (vfork), or the mark was taken away.
 *
 * The calls with a name have the address of a struct pillion_dual_open as their first argument.
 */
#define PILLION_IOC_DUAL_CALL(number) _IO('P', 64 + (number))

#endif
