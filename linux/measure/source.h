/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MEASURE_SOURCE_H
#define MEASURE_SOURCE_H

#include <linux/types.h>

struct measure_stamps;
struct vm_area_struct;

/* Called by a source's hard interrupt handler. @handled is the time-stamp counter at its start. */
void arrived(u64 due, u64 handled);

/* Waits for the next interrupt; -ERESTARTSYS if a signal came first. */
int arrival_wait(struct measure_stamps *stamps);

/* An interrupt that nobody has waited for does not count. */
void arrival_forget(void);

/* QEMU's edu device. */
int edu_init(void);
void edu_exit(void);
bool edu_found(void);
int edu_mmap(struct vm_area_struct *area);

/* A high-resolution timer, handled in hard interrupt context even on PREEMPT_RT. */
void timer_init(void);
void timer_exit(void);
void timer_arm(u64 ns);

#endif
