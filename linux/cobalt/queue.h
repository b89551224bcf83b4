/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Message queues that are Linux's, so that other processes have them by the same names; threads in
 * primary mode use them there. Those that primary mode does not have are the process's own.
 */
#ifndef COBALT_QUEUE_H
#define COBALT_QUEUE_H

#include <mqueue.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Opens or makes one. Returns its descriptor, or the negative number of an error; -ENOSYS: it would
 * be one that Linux does not let the process make, or that primary mode does not have.
 */
int cobalt_open_shared(const char *name, int flags, mode_t mode, struct mq_attr *attributes);
int cobalt_close_shared(mqd_t queue);

/* Without a time, they wait for ever. They set `errno`. */
int cobalt_send_shared(mqd_t queue, const char *text, size_t size, unsigned int priority, const struct timespec *time);
ssize_t cobalt_receive_shared(mqd_t queue, char *text, size_t size, unsigned int *priority, const struct timespec *time);

/* A thread that takes its signals here is told here. It sets `errno`. */
int cobalt_notify_shared(mqd_t queue, const struct sigevent *event);

#endif
