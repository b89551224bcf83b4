// SPDX-License-Identifier: GPL-2.0-only
#include "carry.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "primary/call.h"
#include "primary/lock.h"
#include "threads.h"

#define CHUNK 4096
#define STACK (PTHREAD_STACK_MIN + (32 << 10))
/* How long what is left at the program's end is waited for, in steps of so many milliseconds. */
#define STEPS 200
#define STEP 5

static struct link outputs = LINK_INIT(outputs);

/*
 * The thread owns the lock in primary mode only: those that waited for it there while it is in
 * Linux would follow it. It is an ordinary thread else, which waits in Linux.
 */
static void enter(void)
{
	if (primary_is_there()) {
		syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
		primary_enter();
	}
	primary_lock();
}

static void leave(void)
{
	primary_unlock();
	if (primary_is_there())
		syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &(struct sched_param){ 0 });
}

/* How many bytes of what is there can be carried at once. */
static size_t piece(const struct evl_carrier *carrier, size_t size)
{
	size = size < CHUNK ? size : CHUNK;
	return size - size % carrier->granularity;
}

static void wait_for_bell(struct evl_carrier *carrier)
{
	carrier->waits = true;
	leave();
	while (sem_wait(&carrier->bell))
		;
	enter();
}

static void ring(struct evl_carrier *carrier)
{
	if (!carrier->waits)
		return;
	carrier->waits = false;
	sem_post(&carrier->bell);
}

/* Gives up the object. The real-time side knows the thread no more. */
static void *end(struct evl_carrier *carrier)
{
	evl_put(carrier->object);
	leave();
	if (primary_is_there())
		PRIMARY_CALL(THREAD_ENDS, 0, 0, 0, 0);
	return NULL;
}

/* What a file does not take is lost. */
static void write_out(int file, const char *from, size_t size)
{
	while (size) {
		ssize_t done = syscall(SYS_write, file, from, size);

		if (done < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ file, POLLOUT, 0 }, 1, -1);
		else if (done < 0 && errno != EINTR)
			return;
		from += done > 0 ? done : 0;
		size -= done > 0 ? done : 0;
	}
}

/* With a granularity, each grain is a write of its own: a file may be one that counts them. */
static void write_grains(const struct evl_carrier *carrier, const char *from, size_t size)
{
	size_t grain = carrier->granularity > 1 ? carrier->granularity : size, done;

	for (done = 0; done < size; done += grain)
		write_out(carrier->file, from + done, grain);
}

static void *writes(void *argument)
{
	struct evl_carrier *carrier = argument;
	char bytes[CHUNK];

	enter();
	for (;;) {
		size_t size = piece(carrier, carrier->buffer.used);

		if (size) {
			carrier->is_busy = true;
			primary_buffer_read(&carrier->buffer, bytes, size, PRIMARY_TRY);
			evl_changed(carrier->object);
			leave();
			write_grains(carrier, bytes, size);
			enter();
			carrier->is_busy = false;
		} else if (carrier->ends) {
			break;
		} else {
			wait_for_bell(carrier);
		}
	}
	return end(carrier);
}

/* Reads as much as there is room for. Returns how much that was; 0, or an error: no more comes. */
static ssize_t read_in(const struct evl_carrier *carrier, char *bytes, size_t room)
{
	ssize_t size;

	for (;;) {
		size = syscall(SYS_read, carrier->file, bytes, room);
		if (size >= 0 || (errno != EINTR && errno != EAGAIN))
			return size;
		if (errno == EAGAIN)
			poll(&(struct pollfd){ carrier->file, POLLIN, 0 }, 1, -1);
	}
}

static void *reads(void *argument)
{
	struct evl_carrier *carrier = argument;
	char bytes[CHUNK];

	enter();
	while (!carrier->ends && !carrier->is_over) {
		size_t room = piece(carrier, carrier->buffer.size - carrier->buffer.used);
		ssize_t size;

		if (!room) {
			wait_for_bell(carrier);
			continue;
		}
		leave();
		size = read_in(carrier, bytes, room);
		enter();
		if (size > 0)
			primary_buffer_write(&carrier->buffer, bytes, size, PRIMARY_TRY);
		else
			carrier->is_over = true;
		if (carrier->is_over)
			primary_wake_all(&carrier->buffer.readers, -EPIPE);
		evl_changed(carrier->object);
	}
	return end(carrier);
}

static int start(struct evl_carrier *carrier)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	/* What is not set here, the C library has the thread inherit all the same. */
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &(struct sched_param){ 0 });
	/* Signals are for the program's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attributes, carrier->is_output ? writes : reads, carrier);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}

static bool is_left(void)
{
	bool is = false;

	primary_lock();
	for each_link(link, &outputs) {
		struct evl_carrier *carrier = holder_of(link, struct evl_carrier, link);

		is |= carrier->is_busy || piece(carrier, carrier->buffer.used);
	}
	primary_unlock();
	return is;
}

/* What is left at the program's end is written, if it is taken soon. */
static void flush(void)
{
	int i;

	for (i = 0; i < STEPS && is_left(); i++)
		poll(NULL, 0, STEP);
}

static void begin(void)
{
	atexit(flush);
}

int evl_carry(struct evl_carrier *carrier, struct evl_object *object, int file, size_t size, size_t granularity,
	      bool is_output)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int error = primary_buffer_init(&carrier->buffer, size, true);

	if (error)
		return error;
	pthread_once(&once, begin);
	carrier->object = object;
	carrier->file = file;
	carrier->granularity = granularity ? granularity : 1;
	carrier->is_output = is_output;
	sem_init(&carrier->bell, 0, 0);
	link_init(&carrier->link);
	primary_lock();
	object->references++;
	if (is_output)
		link_before(&carrier->link, &outputs);
	primary_unlock();
	error = start(carrier);
	if (!error)
		return 0;
	primary_lock();
	link_remove(&carrier->link);
	object->references--;
	primary_unlock();
	evl_carrier_ends(carrier);
	return error;
}

void evl_carry_no_more(struct evl_carrier *carrier)
{
	if (!carrier->object)
		return;
	carrier->ends = true;
	ring(carrier);
	primary_wake_all(&carrier->buffer.readers, -EBADF);
	primary_wake_all(&carrier->buffer.writers, -EBADF);
}

void evl_carrier_ends(struct evl_carrier *carrier)
{
	if (!carrier->object)
		return;
	carrier->object = NULL;
	link_remove(&carrier->link);
	primary_buffer_end(&carrier->buffer, -EBADF);
	sem_destroy(&carrier->bell);
}

/* How many bytes a read waits for. */
static size_t least(const struct evl_carrier *carrier, size_t size, bool some)
{
	if (carrier->is_over)
		return size < carrier->buffer.used ? size : carrier->buffer.used;
	return some && size > carrier->granularity ? carrier->granularity : size;
}

static ssize_t take(struct evl_carrier *carrier, void *to, size_t size, bool some, struct primary_end end)
{
	ssize_t result, more;

	if (!size)
		return 0;
	do
		result = primary_buffer_read(&carrier->buffer, to, least(carrier, size, some), end);
	while (result == -EPIPE);
	if (result <= 0 || !some)
		return result;
	more = piece(carrier, carrier->buffer.used);
	if (more > (ssize_t)size - result)
		more = size - result;
	more = primary_buffer_read(&carrier->buffer, (char *)to + result, more, PRIMARY_TRY);
	return more > 0 ? result + more : result;
}

ssize_t evl_carrier_read(struct evl_carrier *carrier, void *to, size_t size, bool some, bool waits)
{
	ssize_t result;

	if (!carrier->object)
		return -EBADF;
	pthread_cleanup_push(evl_put_cancelled, carrier->object);
	result = take(carrier, to, size, some, waits ? PRIMARY_FOREVER : PRIMARY_TRY);
	pthread_cleanup_pop(0);
	ring(carrier);
	evl_changed(carrier->object);
	return result;
}

ssize_t evl_carrier_write(struct evl_carrier *carrier, const void *from, size_t size, bool waits)
{
	ssize_t result;

	if (!carrier->object)
		return -EBADF;
	if (size % carrier->granularity)
		return -EINVAL;
	pthread_cleanup_push(evl_put_cancelled, carrier->object);
	result = primary_buffer_write(&carrier->buffer, from, size, waits ? PRIMARY_FOREVER : PRIMARY_TRY);
	pthread_cleanup_pop(0);
	ring(carrier);
	return result;
}

unsigned int evl_carrier_events(const struct evl_carrier *carrier)
{
	if (!carrier->object)
		return 0;
	if (carrier->is_output)
		return carrier->buffer.used < carrier->buffer.size ? POLLOUT | POLLWRNORM : 0;
	return (carrier->buffer.used ? POLLIN | POLLRDNORM : 0) | (carrier->is_over ? POLLHUP : 0);
}
