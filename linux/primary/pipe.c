// SPDX-License-Identifier: GPL-2.0-only
#include "pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pillion_pipe.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"

#define STACK (PTHREAD_STACK_MIN + (32 << 10))

_Static_assert(PRIMARY_PIPES == PILLION_PIPES && PRIMARY_PIPE_MESSAGE == PILLION_PIPE_MESSAGE, "as the device has it");

struct primary_pipe {
	int file;
	int number;
	/* It is closed: the threads end. They wait for this pipe as well, which tells them. */
	bool ends;
	int bell[2];
	pthread_t reader;
	pthread_t writer;
	/* Messages to Linux, and from it. */
	struct primary_box to_linux;
	struct primary_box *from_linux;
	/* The last message to Linux, if it is a part of a stream, with a reference. */
	struct primary_message *stream;
	struct primary_heap *heap;
	void (*arrived)(void *argument);
	void *argument;
	char buffer[PILLION_PIPE_MESSAGE];
};

/* Whether the pipe may be used, which has that event, or is to be closed. */
static bool wait_for(struct primary_pipe *pipe, short event)
{
	struct pollfd files[2] = { { pipe->file, event, 0 }, { pipe->bell[0], POLLIN, 0 } };

	while (poll(files, 2, -1) < 0)
		;
	return !files[1].revents;
}

/* What is left when the pipe is closed goes as far as there is room. */
static void write_out(struct primary_pipe *pipe, const struct primary_message *message)
{
	while (syscall(SYS_write, pipe->file, message->text, message->size) < 0)
		if (errno != EINTR && (errno != EAGAIN || !wait_for(pipe, POLLOUT)))
			return;
}

static void *writer(void *argument)
{
	struct primary_pipe *pipe = argument;
	struct primary_message *message;
	int error;

	/* It becomes known before it has the lock: that takes calls of Linux's. */
	primary_self();
	primary_lock();
	for (;;) {
		error = primary_box_take(&pipe->to_linux, &message, pipe->ends ? PRIMARY_TRY : PRIMARY_FOREVER);
		if (error && pipe->ends)
			break;
		if (error)
			continue;
		primary_unlock();
		write_out(pipe, message);
		primary_lock();
		primary_message_put(message);
	}
	primary_unlock();
	return NULL;
}

/* Takes what a process wrote into the process's memory; if there is none, it is lost. */
static void take_in(struct primary_pipe *pipe, size_t size)
{
	struct primary_message *message;

	primary_lock();
	message = primary_message_make(pipe->heap, size);
	if (message) {
		memcpy(message->text, pipe->buffer, size);
		primary_box_put(pipe->from_linux, message, false);
		if (pipe->arrived)
			pipe->arrived(pipe->argument);
	}
	primary_unlock();
}

static void *reader(void *argument)
{
	struct primary_pipe *pipe = argument;

	while (wait_for(pipe, POLLIN)) {
		ssize_t size = syscall(SYS_read, pipe->file, pipe->buffer, sizeof(pipe->buffer));

		if (size > 0)
			take_in(pipe, size);
	}
	return NULL;
}

static int start(pthread_t *thread, void *(*run)(void *), struct primary_pipe *pipe)
{
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	/* What is not set here, the C library has the thread inherit all the same. */
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &(struct sched_param){ 0 });
	error = pthread_create(thread, &attributes, run, pipe);
	pthread_attr_destroy(&attributes);
	return -error;
}

static int bind_device(struct primary_pipe *pipe, int number)
{
	pipe->file = syscall(SYS_openat, AT_FDCWD, PILLION_PIPE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (pipe->file < 0)
		return -errno;
	pipe->number = syscall(SYS_ioctl, pipe->file, PILLION_IOC_PIPE_BIND, number);
	if (pipe->number < 0)
		return -errno;
	return syscall(SYS_pipe2, pipe->bell, O_CLOEXEC) ? -errno : 0;
}

static void close_files(struct primary_pipe *pipe)
{
	int files[] = { pipe->file, pipe->bell[0], pipe->bell[1] };
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (files[i] >= 0)
			syscall(SYS_close, files[i]);
}

int primary_pipe_open(struct primary_pipe **made, int number, struct primary_heap *heap, struct primary_box *from_linux,
		      void (*arrived)(void *argument), void *argument)
{
	struct primary_pipe *pipe = calloc(1, sizeof(*pipe));
	int error;

	if (!pipe)
		return -ENOMEM;
	pipe->bell[0] = pipe->bell[1] = -1;
	pipe->heap = heap;
	pipe->from_linux = from_linux;
	pipe->arrived = arrived;
	pipe->argument = argument;
	primary_box_init(&pipe->to_linux, false);
	error = bind_device(pipe, number);
	if (!error)
		error = start(&pipe->reader, reader, pipe);
	if (error) {
		close_files(pipe);
		free(pipe);
		return error;
	}
	error = start(&pipe->writer, writer, pipe);
	if (error) {
		pipe->writer = pipe->reader;
		primary_pipe_close(pipe);
		return error;
	}
	*made = pipe;
	return 0;
}

int primary_pipe_number(const struct primary_pipe *pipe)
{
	return pipe->number;
}

static void end_stream(struct primary_pipe *pipe)
{
	if (pipe->stream)
		primary_message_put(pipe->stream);
	pipe->stream = NULL;
}

void primary_pipe_send(struct primary_pipe *pipe, struct primary_message *message, bool is_urgent)
{
	end_stream(pipe);
	primary_box_put(&pipe->to_linux, message, is_urgent);
}

char *primary_pipe_extend(struct primary_pipe *pipe, size_t size, size_t most)
{
	struct primary_message *message = pipe->stream;

	if (message && !link_alone(&message->link) && message->size + size <= most) {
		message->size += size;
		pipe->to_linux.bytes += size;
		return message->text + message->size - size;
	}
	end_stream(pipe);
	message = primary_message_make(pipe->heap, most);
	if (!message)
		return NULL;
	message->size = size;
	message->references++;
	pipe->stream = message;
	primary_box_put(&pipe->to_linux, message, false);
	return message->text;
}

void primary_pipe_flush(struct primary_pipe *pipe)
{
	primary_lock();
	primary_box_clear(&pipe->to_linux);
	primary_box_clear(pipe->from_linux);
	primary_unlock();
	syscall(SYS_ioctl, pipe->file, PILLION_IOC_PIPE_DROP_WRITTEN, 0);
	syscall(SYS_ioctl, pipe->file, PILLION_IOC_PIPE_DROP_UNREAD, 0);
}

void primary_pipe_close(struct primary_pipe *pipe)
{
	primary_lock();
	pipe->ends = true;
	end_stream(pipe);
	primary_wake_all(&pipe->to_linux.readers, -EIDRM);
	primary_unlock();
	syscall(SYS_write, pipe->bell[1], "", 1);
	pthread_join(pipe->reader, NULL);
	if (!pthread_equal(pipe->writer, pipe->reader))
		pthread_join(pipe->writer, NULL);
	close_files(pipe);
	free(pipe);
}
