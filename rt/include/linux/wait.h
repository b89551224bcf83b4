/* Linux wait queues, always empty: a task has one Linux context, which cannot wait for itself. */
#ifndef LINUX_WAIT_H
#define LINUX_WAIT_H

typedef struct {
	int pillion_none;
} wait_queue_head_t;

#define DECLARE_WAIT_QUEUE_HEAD(name) wait_queue_head_t name = { 0 }
#define init_waitqueue_head(queue) do { (queue)->pillion_none = 0; } while (0)
#define wake_up(queue) do { (void)(queue); } while (0)
#define wake_up_interruptible(queue) do { (void)(queue); } while (0)

#endif
