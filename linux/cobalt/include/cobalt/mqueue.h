/* SPDX-License-Identifier: GPL-2.0-only */
/* Message queues. */
#pragma GCC system_header
#include_next <mqueue.h>

#ifndef _COBALT_MQUEUE_H
#define _COBALT_MQUEUE_H

#include <cobalt/wrappers.h>
#include <signal.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(mqd_t, mq_open(const char *name, int flags, ...));
COBALT_DECL(int, mq_close(mqd_t queue));
COBALT_DECL(int, mq_unlink(const char *name));
COBALT_DECL(int, mq_getattr(mqd_t queue, struct mq_attr *attributes));
COBALT_DECL(int, mq_setattr(mqd_t queue, const struct mq_attr *__restrict__ attributes, struct mq_attr *__restrict__ old));
COBALT_DECL(int, mq_send(mqd_t queue, const char *message, size_t size, unsigned priority));
COBALT_DECL(int, mq_timedsend(mqd_t queue, const char *message, size_t size, unsigned priority,
			      const struct timespec *end));
COBALT_DECL(ssize_t, mq_receive(mqd_t queue, char *message, size_t size, unsigned *priority));
COBALT_DECL(ssize_t, mq_timedreceive(mqd_t queue, char *__restrict__ message, size_t size,
				     unsigned *__restrict__ priority, const struct timespec *__restrict__ end));
COBALT_DECL(int, mq_notify(mqd_t queue, const struct sigevent *event));

#ifdef __cplusplus
}
#endif

#endif
