/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals that wait in the process's memory until a thread takes them. */
#ifndef COBALT_PENDING_H
#define COBALT_PENDING_H

#include <signal.h>
#include <stdbool.h>

#include "primary/thread.h"

/* A signal that the calling thread sends, which leaves it in its mode. */
siginfo_t cobalt_signal(int signal, int code);
/* Whether signals to a thread wait here: it is a real-time thread. */
bool cobalt_takes_signals(const struct primary_thread *thread);
/*
 * Sends a signal to a thread, under the lock. Returns 0, or -EAGAIN: there are too many. One that
 * does not queue is sent once only.
 */
int cobalt_signal_send(struct primary_thread *thread, const siginfo_t *info);
/* The signal of a timer that the thread has not taken yet, or NULL. Under the lock. */
siginfo_t *cobalt_signal_of_timer(const struct primary_thread *thread, int timer);

#endif
