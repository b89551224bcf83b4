// SPDX-License-Identifier: GPL-2.0-only
/*
 * Message queues. Those that primary mode does not have, or Linux not make, are in the process's
 * memory: a message goes straight into the buffer of a thread that waits for one.
 */
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"
#include "internal.h"
#include "pending.h"
#include "primary/lock.h"
#include "primary/name.h"
#include "primary/wait.h"
#include "queue.h"

#define MOST_MESSAGES 65536
#define MOST_BYTES (64 << 20)
#define PRIORITIES 32768

struct message {
	struct link link;
	unsigned int priority;
	size_t size;
	char text[];
};

struct queue {
	struct primary_name name;
	/* Descriptors, and one for the name. */
	unsigned int references;
	bool is_named;
	long most;
	long size;
	long count;
	struct link messages;
	struct link unused;
	struct primary_queue senders;
	struct primary_queue receivers;
	struct link descriptors;
	/* Who is told when a message comes into an empty queue; signal 0: by nothing. */
	struct primary_thread *told;
	pid_t told_tid;
	struct sigevent event;
	char *memory;
};

struct descriptor {
	struct primary_file file;
	struct link link;
	struct queue *queue;
	int access;
};

/* What a thread that waits has, or wants. */
struct transfer {
	char *text;
	size_t size;
	unsigned int priority;
};

static const char queues;

static struct descriptor *descriptor_of(struct primary_file *file)
{
	return holder_of(file, struct descriptor, file);
}

static struct queue *make(const struct mq_attr *attributes)
{
	long most = attributes ? attributes->mq_maxmsg : 10, size = attributes ? attributes->mq_msgsize : 8192, i;
	struct queue *queue;
	size_t bytes;

	if (most <= 0 || size <= 0 || most > MOST_MESSAGES || size > MOST_BYTES / most)
		return NULL;
	bytes = (sizeof(struct message) + size + 15) & ~15UL;
	queue = calloc(1, sizeof(*queue));
	if (queue)
		queue->memory = malloc(most * bytes);
	if (!queue || !queue->memory) {
		free(queue);
		return NULL;
	}
	queue->most = most;
	queue->size = size;
	link_init(&queue->name.link);
	link_init(&queue->messages);
	link_init(&queue->unused);
	link_init(&queue->descriptors);
	primary_queue_init(&queue->senders, true);
	primary_queue_init(&queue->receivers, true);
	for (i = 0; i < most; i++)
		link_before(&((struct message *)(queue->memory + i * bytes))->link, &queue->unused);
	return queue;
}

static void put_queue(struct queue *queue)
{
	if (--queue->references)
		return;
	primary_free(queue->memory);
	free(queue);
}

static void changed(struct queue *queue)
{
	for each_link(link, &queue->descriptors)
		primary_changed(&holder_of(link, struct descriptor, link)->file);
}

static unsigned int events(struct primary_file *file)
{
	struct descriptor *descriptor = descriptor_of(file);
	struct queue *queue = descriptor->queue;
	unsigned int found = 0;

	if (descriptor->access != O_WRONLY && queue->count)
		found |= POLLIN;
	if (descriptor->access != O_RDONLY && queue->count < queue->most)
		found |= POLLOUT;
	return found;
}

static void closes(struct primary_file *file)
{
	link_remove(&descriptor_of(file)->link);
}

static void ends(struct primary_file *file)
{
	put_queue(descriptor_of(file)->queue);
	free(descriptor_of(file));
}

static const struct cobalt_kind kind = { .file = { .events = events, .closes = closes, .ends = ends } };

/* Finds or makes the queue of a name, with a reference. */
static int look_up(const char *name, int flags, const struct mq_attr *attributes, struct queue **found)
{
	struct primary_name *known = primary_named(&queues, name);
	struct queue *queue;
	int error;

	if (known) {
		queue = holder_of(known, struct queue, name);
		if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
			return -EEXIST;
	} else {
		if (!(flags & O_CREAT))
			return -ENOENT;
		queue = make(attributes);
		if (!queue)
			return attributes && (attributes->mq_maxmsg <= 0 || attributes->mq_msgsize <= 0) ? -EINVAL : -ENOSPC;
		queue->references = 1;
		queue->is_named = true;
		error = primary_name(&queue->name, &queues, name);
		if (error) {
			put_queue(queue);
			return error;
		}
	}
	queue->references++;
	*found = queue;
	return 0;
}

/* Whether the process has one of its own with that name. */
static bool is_own(const char *name)
{
	bool is_known;

	primary_lock();
	is_known = primary_named(&queues, name);
	primary_unlock();
	return is_known;
}

WRAP(mqd_t, mq_open, const char *name, int flags, ...)
{
	struct mq_attr *attributes = NULL;
	struct descriptor *descriptor;
	int result = -ENOSYS;
	va_list arguments;
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		attributes = va_arg(arguments, struct mq_attr *);
		va_end(arguments);
	}
	if (name[0] != '/' || !name[1])
		return cobalt_told(-EINVAL);
	if (!is_own(name))
		result = cobalt_open_shared(name, flags, mode, attributes);
	if (result != -ENOSYS)
		return cobalt_told(result);
	descriptor = calloc(1, sizeof(*descriptor));
	if (!descriptor)
		return cobalt_told(-ENOMEM);
	descriptor->access = flags & O_ACCMODE;
	link_init(&descriptor->link);
	primary_lock();
	result = look_up(name, flags, attributes, &descriptor->queue);
	primary_unlock();
	if (result) {
		free(descriptor);
		return cobalt_told(result);
	}
	result = primary_open(&descriptor->file, &kind.file, flags);
	primary_lock();
	/* Not before it is a file: who changes the queue tells all its descriptors. */
	if (result < 0)
		ends(&descriptor->file);
	else
		link_before(&descriptor->link, &descriptor->queue->descriptors);
	primary_unlock();
	return cobalt_told(result);
}

WRAP(int, mq_close, mqd_t number)
{
	return primary_is_file(number) ? cobalt_told(primary_close(number)) : cobalt_close_shared(number);
}

WRAP(int, mq_unlink, const char *name)
{
	struct primary_name *known;

	primary_lock();
	known = primary_named(&queues, name);
	if (known) {
		primary_unname(known);
		put_queue(holder_of(known, struct queue, name));
	}
	primary_unlock();
	return known ? 0 : __real_mq_unlink(name);
}

/* Puts a message behind those that are as urgent. */
static void insert(struct queue *queue, struct message *message)
{
	struct link *next = queue->messages.next;

	while (next != &queue->messages && holder_of(next, struct message, link)->priority >= message->priority)
		next = next->next;
	link_before(&message->link, next);
	queue->count++;
}

static void send_to_ordinary(const struct primary_errand *errand)
{
	syscall(SYS_rt_tgsigqueueinfo, getpid(), errand->number, errand->info.si_signo, &errand->info);
}

static void tell(struct queue *queue)
{
	siginfo_t info = cobalt_signal(queue->event.sigev_signo, SI_MESGQ);
	struct primary_thread *thread = queue->told;

	queue->told = NULL;
	info.si_value = queue->event.sigev_value;
	if (queue->event.sigev_notify == SIGEV_NONE || primary_find_tid(queue->told_tid) != thread)
		return;
	if (cobalt_takes_signals(thread))
		cobalt_signal_send(thread, &info);
	else
		primary_afterwards(&(struct primary_errand){ send_to_ordinary, thread->tid, NULL, info });
}

/* Gives a message to a thread that waits, or puts it into the queue, which has room. */
static void add(struct queue *queue, const struct transfer *from)
{
	struct primary_wait *first = primary_first(&queue->receivers);
	struct message *message;

	if (first) {
		struct transfer *to = first->data;

		memcpy(to->text, from->text, from->size);
		to->size = from->size;
		to->priority = from->priority;
		primary_wake(first, 0);
		return;
	}
	message = holder_of(queue->unused.next, struct message, link);
	link_remove(&message->link);
	message->priority = from->priority;
	message->size = from->size;
	memcpy(message->text, from->text, from->size);
	insert(queue, message);
	if (queue->count == 1 && queue->told)
		tell(queue);
	changed(queue);
}

static void take(struct queue *queue, struct transfer *to)
{
	struct message *message = holder_of(queue->messages.next, struct message, link);
	struct primary_wait *first = primary_first(&queue->senders);

	memcpy(to->text, message->text, message->size);
	to->size = message->size;
	to->priority = message->priority;
	link_remove(&message->link);
	link_before(&message->link, &queue->unused);
	queue->count--;
	if (first) {
		add(queue, first->data);
		primary_wake(first, 0);
	}
	changed(queue);
}

static int do_send(struct descriptor *descriptor, const struct transfer *from, struct primary_end end)
{
	struct primary_wait wait = { .data = (void *)from };
	struct queue *queue = descriptor->queue;

	if (descriptor->access == O_RDONLY)
		return -EBADF;
	if (from->size > (size_t)queue->size)
		return -EMSGSIZE;
	if (from->priority >= PRIORITIES)
		return -EINVAL;
	if (queue->count < queue->most) {
		add(queue, from);
		return 0;
	}
	return primary_wait(&queue->senders, &wait, cobalt_end(&descriptor->file, end));
}

static ssize_t do_receive(struct descriptor *descriptor, struct transfer *to, struct primary_end end)
{
	struct queue *queue = descriptor->queue;
	struct primary_wait wait = { .data = to };
	int error = 0;

	if (descriptor->access == O_WRONLY)
		return -EBADF;
	if (to->size < (size_t)queue->size)
		return -EMSGSIZE;
	if (queue->count)
		take(queue, to);
	else
		error = primary_wait(&queue->receivers, &wait, cobalt_end(&descriptor->file, end));
	return error ? error : (ssize_t)to->size;
}

/* Sends or receives. Returns false if the descriptor is not one of this library's. */
static bool with(mqd_t number, bool sends, struct transfer *transfer, const struct timespec *time, ssize_t *result)
{
	struct primary_end end = PRIMARY_FOREVER;
	struct primary_file *file;

	if (!primary_is_file(number))
		return false;
	if (time)
		end = PRIMARY_UNTIL(CLOCK_REALTIME, primary_ns(time));
	*result = end.ns < 0 ? -EINVAL : -EBADF;
	primary_lock();
	file = primary_get(number, &kind.file);
	if (file && end.ns >= 0) {
		pthread_cleanup_push(cobalt_put_cancelled, file);
		*result = sends ? do_send(descriptor_of(file), transfer, end) : do_receive(descriptor_of(file), transfer, end);
		pthread_cleanup_pop(0);
	}
	if (file)
		primary_put(file);
	primary_unlock();
	return true;
}

WRAP(int, mq_timedsend, mqd_t number, const char *text, size_t size, unsigned int priority, const struct timespec *time)
{
	struct transfer from = { (char *)text, size, priority };
	ssize_t result;

	if (!with(number, true, &from, time, &result))
		return cobalt_send_shared(number, text, size, priority, time);
	return cobalt_told(result);
}

WRAP(int, mq_send, mqd_t number, const char *text, size_t size, unsigned int priority)
{
	return __cobalt_mq_timedsend(number, text, size, priority, NULL);
}

WRAP(ssize_t, mq_timedreceive, mqd_t number, char *text, size_t size, unsigned int *priority, const struct timespec *time)
{
	struct transfer to = { text, size, 0 };
	ssize_t result;

	if (!with(number, false, &to, time, &result))
		return cobalt_receive_shared(number, text, size, priority, time);
	if (result >= 0 && priority)
		*priority = to.priority;
	return cobalt_told(result);
}

WRAP(ssize_t, mq_receive, mqd_t number, char *text, size_t size, unsigned int *priority)
{
	return __cobalt_mq_timedreceive(number, text, size, priority, NULL);
}

WRAP(int, mq_setattr, mqd_t number, const struct mq_attr *attributes, struct mq_attr *old)
{
	struct primary_file *file;

	if (!primary_is_file(number))
		return __real_mq_setattr(number, attributes, old);
	primary_lock();
	file = primary_get(number, &kind.file);
	if (file) {
		struct queue *queue = descriptor_of(file)->queue;

		if (old)
			*old = (struct mq_attr){ .mq_flags = file->flags, .mq_maxmsg = queue->most, .mq_msgsize = queue->size,
						 .mq_curmsgs = queue->count };
		if (attributes)
			file->flags = attributes->mq_flags & O_NONBLOCK;
		primary_put(file);
	}
	primary_unlock();
	return cobalt_told(file ? 0 : -EBADF);
}

WRAP(int, mq_getattr, mqd_t number, struct mq_attr *attributes)
{
	if (!primary_is_file(number))
		return __real_mq_getattr(number, attributes);
	return __cobalt_mq_setattr(number, NULL, attributes);
}

static int notify(struct queue *queue, const struct sigevent *event)
{
	struct primary_thread *self = primary_self();
	bool is_told = queue->told && primary_find_tid(queue->told_tid) == queue->told;

	if (!event) {
		if (queue->told == self)
			queue->told = NULL;
		return 0;
	}
	if (event->sigev_notify != SIGEV_SIGNAL && event->sigev_notify != SIGEV_NONE)
		return -EINVAL;
	if (is_told)
		return -EBUSY;
	queue->event = *event;
	queue->told = self;
	queue->told_tid = self->tid;
	return 0;
}

WRAP(int, mq_notify, mqd_t number, const struct sigevent *event)
{
	struct primary_file *file;
	int result = -EBADF;

	if (!primary_is_file(number))
		return cobalt_notify_shared(number, event);
	primary_lock();
	file = primary_get(number, &kind.file);
	if (file) {
		result = notify(descriptor_of(file)->queue, event);
		primary_put(file);
	}
	primary_unlock();
	return cobalt_told(result);
}
