/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests to the task that runs functions of processes at real-time priority. */
#ifndef PSC_REQUEST_H
#define PSC_REQUEST_H

#include <linux/types.h>
#include <pillion_channel.h>
#include <pillion_psc.h>

struct task;

bool psc_request_open(void);
struct task *psc_request_task(void);
const struct pillion_psc_slot *psc_request_slot(unsigned int slot);
int psc_request_start(unsigned int slot, const struct pillion_psc_handler *handler);
int psc_request_stop(unsigned int slot);
int psc_request_fifo(u32 number, u32 size);
int psc_request_place(unsigned int number, u64 *start, u64 *size);

#endif
