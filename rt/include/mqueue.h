/* Named message queues. */
#ifndef MQUEUE_H
#define MQUEUE_H

#include <stddef.h>
#include <sys/types.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int mqd_t;

#define MQ_PRIO_MAX 32
#define _RTL_MQ_PRIO_MAX MQ_PRIO_MAX
#define _RTL_MQ_CREATE_MAX 32
#define _RTL_MQ_OPEN_MAX 64

struct mq_attr {
	long mq_flags;
	long mq_maxmsg;
	long mq_msgsize;
	long mq_curmsgs;
};

mqd_t mq_open(const char *name, int flags, ...);
int mq_close(mqd_t queue);
int mq_unlink(const char *name);
int mq_send(mqd_t queue, const char *message, size_t length, unsigned int priority);
ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned int *priority);
int mq_timedsend(mqd_t queue, const char *message, size_t length, unsigned int priority, const struct timespec *deadline);
ssize_t mq_timedreceive(mqd_t queue, char *message, size_t size, unsigned int *priority, const struct timespec *deadline);
int mq_getattr(mqd_t queue, struct mq_attr *attributes);
int mq_setattr(mqd_t queue, const struct mq_attr *attributes, struct mq_attr *old);
int mq_notify(mqd_t queue, const struct sigevent *event);

#ifdef __cplusplus
}
#endif

#endif
