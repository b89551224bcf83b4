/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of this process at real-time priority, within the library. */
#ifndef PSC_H
#define PSC_H

#include <rtlinux_signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the task that runs handlers is reached; NULL if there is none. */
struct psc_share {
	/* /dev/pillion-psc. */
	int device;
	/* FIFOs as that task shows them. */
	const struct pillion_fifo_entry *fifos;
};
const struct psc_share *psc_share(void);

/* Whether this is executed by a handler. */
bool psc_in_handler(void);
/* Blocked signals that came. */
extern rtlinux_sigset_t psc_pending;
/* Whether a signal that came is blocked; then it is due when it is so no longer. */
bool psc_hold(int sig);
/* A signal that came and was blocked is not due any more. */
void psc_forget(int sig);
/* Runs a signal's handler, if it has one, at real-time priority; it has run when this returns. */
int psc_run_once(int sig);
/* A handler's call to have Linux look at a FIFO. */
void psc_ring(unsigned int fifo);

#endif
