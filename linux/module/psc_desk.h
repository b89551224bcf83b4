/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to the task that runs functions of processes at real-time priority. */
#ifndef PSC_DESK_H
#define PSC_DESK_H

#include <linux/types.h>
#include <pillion_channel.h>
#include <pillion_psc.h>

struct task;

bool psc_desk_open(void);
struct task *psc_desk_task(void);
const struct pillion_psc_slot *psc_desk_slot(unsigned int slot);
int psc_desk_start(unsigned int slot, const struct pillion_psc_handler *handler);
int psc_desk_stop(unsigned int slot);
int psc_desk_fifo(u32 number, u32 size);
int psc_desk_place(unsigned int number, u64 *start, u64 *size);

#endif
