/* The Linux context in the form of a Linux task. */
#ifndef LINUX_SCHED_H
#define LINUX_SCHED_H

#include <linux/config.h>
#include <linux/types.h>
#include <linux/jiffies.h>
#include <linux/wait.h>
#include <linux/kernel.h>
#include <linux/signal.h>
#include <linux/smp.h>
#include <linux/time.h>
#include <asm/mman.h>
#include <asm/page.h>
#include <asm/processor.h>
#include <asm/semaphore.h>
#include <asm/system.h>
#include <asm/timex.h>
#include <sched.h>
#ifdef __cplusplus
extern "C" {
#endif

#define TASK_RUNNING 0
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2

struct task_struct {
	volatile long state;
	int pid;
	char comm[32];
};

/* The task itself, with pid 1. */
struct task_struct *pillion_current(void);
#define current pillion_current()

#define set_current_state(value) do { current->state = (value); } while (0)
#define signal_pending(task) 0

/* Sleeps for `ticks` ticks of Linux's clock; returns 0. */
signed long schedule_timeout(signed long ticks);
/* Lets other threads of the same priority go first. */
void schedule(void);

#ifdef __cplusplus
}
#endif
#endif
