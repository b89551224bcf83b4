/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PILLION_FAULT_H
#define PILLION_FAULT_H

#include <linux/types.h>

/* Writes a line to the debug console, where the VM monitor reads it. */
__printf(1, 2) void note(const char *format, ...);

/* Whether less than @ms milliseconds have passed since @start, a value of rdtsc(). */
bool within(u64 start, unsigned int ms);

/* Messages of a device, with a vector and delivery mode of our choice: the low word of data. */
int message_open(void);
void message_aim(u32 data);
void message_mask(void);
void message_send(void);

/* What Linux's kernel and the task of dual mode share, mapped anew; NULL: it is not there. */
struct pillion_dual *dual_window(void);

/* Each returns, unless it says that Linux does not survive it. */
int fault_spin(void);
int fault_spin_all(void);
int fault_far(void);
int fault_triple(void);
int fault_invalid(void);
int fault_memory(void);
int fault_registers(void);
int fault_storm(void);
int fault_message(void);
int fault_smi(void);
int fault_channel(void);
int fault_a20(void);
int fault_reset(void);
int fault_hpet(void);
int fault_bridge(void);
int fault_bars(void);
int fault_dual(void);
int fault_clock(void);

#endif
