/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs use of Cobalt beside POSIX. Results are 0 or the negative number of an error. */
#ifndef _COBALT_SYS_COBALT_H
#define _COBALT_SYS_COBALT_H

#include <time.h>

/* In the result of cobalt_thread_mode: the thread is in Linux. */
#define XNRELAX 0x00000080

#define COBALT_EVENT_FIFO 0x0
#define COBALT_EVENT_PRIO 0x1
#define COBALT_EVENT_SHARED 0x2
#define COBALT_EVENT_ALL 0x0
#define COBALT_EVENT_ANY 0x1

/* A group of 32 flags. */
typedef struct {
	unsigned int handle;
} cobalt_event_t;

#ifdef __cplusplus
extern "C" {
#endif

int cobalt_thread_mode(void);
int cobalt_thread_harden(void);
int cobalt_thread_relax(void);

int cobalt_event_init(cobalt_event_t *event, unsigned int value, int flags);
int cobalt_event_post(cobalt_event_t *event, unsigned int bits);
/* A time of CLOCK_REALTIME; without one, for ever; of zero, not at all. */
int cobalt_event_wait(cobalt_event_t *event, unsigned int bits, unsigned int *bits_r, int mode,
		      const struct timespec *timeout);
unsigned long cobalt_event_clear(cobalt_event_t *event, unsigned int bits);
int cobalt_event_destroy(cobalt_event_t *event);

#ifdef __cplusplus
}
#endif

#endif
