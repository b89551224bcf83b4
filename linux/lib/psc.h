/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of this process at real-time priority, within the library. */
#ifndef PSC_H
#define PSC_H

#include <rtlinux_signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The connection to the task that runs handlers; psc_share() returns NULL if there is none. */
struct psc_share {
	/* /dev/pillion-psc. */
	int device;
	/* FIFOs, in that task's status. */
	const struct pillion_fifo_entry *fifos;
};
const struct psc_share *psc_share(void);

/* Whether a handler executes this. */
bool psc_in_handler(void);
/* Signals that arrived while they were blocked. */
extern rtlinux_sigset_t psc_pending;
/* Whether an arriving signal is blocked; if so, it is due once it is unblocked. */
bool psc_hold(int sig);
/* Drops a signal that arrived while it was blocked. */
void psc_forget(int sig);
/* Runs a signal's handler, if it has one, at real-time priority; it has run when this returns. */
int psc_run_once(int sig);
/* A handler's hypercall that makes Linux check a FIFO. */
void psc_ring(unsigned int fifo);

#endif
