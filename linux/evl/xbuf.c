// SPDX-License-Identifier: GPL-2.0-only
/* Buffers between the stages. The descriptor is one end of a pair of sockets. */
#include <errno.h>
#include <evl/evl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "carry.h"
#include "primary/lock.h"
#include "threads.h"

struct xbuf {
	struct evl_object object;
	/* The other end. */
	int file;
	struct evl_carrier in;
	struct evl_carrier out;
};

static struct xbuf *xbuf_of(struct evl_object *object)
{
	return holder_of(object, struct xbuf, object);
}

static ssize_t do_read(struct evl_object *object, void *buffer, size_t size, bool waits)
{
	return evl_carrier_read(&xbuf_of(object)->in, buffer, size, false, waits);
}

static ssize_t do_write(struct evl_object *object, const void *buffer, size_t size, bool waits)
{
	return evl_carrier_write(&xbuf_of(object)->out, buffer, size, waits);
}

static unsigned int events(struct evl_object *object)
{
	return evl_carrier_events(&xbuf_of(object)->in) | evl_carrier_events(&xbuf_of(object)->out);
}

static void shut(const struct primary_errand *errand)
{
	struct xbuf *xbuf = errand->object;

	syscall(SYS_shutdown, xbuf->file, SHUT_RDWR);
	primary_lock();
	evl_put(&xbuf->object);
	primary_unlock();
}

static void closes(struct evl_object *object)
{
	struct xbuf *xbuf = xbuf_of(object);

	evl_carry_no_more(&xbuf->in);
	evl_carry_no_more(&xbuf->out);
	/* Ends the calls that the threads may be in. */
	object->references++;
	primary_afterwards(&(struct primary_errand){ .run = shut, .object = xbuf });
}

static void ends(struct evl_object *object)
{
	struct xbuf *xbuf = xbuf_of(object);

	evl_carrier_ends(&xbuf->in);
	evl_carrier_ends(&xbuf->out);
	primary_close_file(xbuf->file);
	free(xbuf);
}

static const struct evl_kind xbufs = {
	.events = events, .read = do_read, .write = do_write, .closes = closes, .ends = ends
};

static int carry(struct xbuf *xbuf, size_t in, size_t out)
{
	int error = in ? evl_carry(&xbuf->in, &xbuf->object, xbuf->file, in, 1, false) : 0;

	return error || !out ? error : evl_carry(&xbuf->out, &xbuf->object, xbuf->file, out, 1, true);
}

/* The descriptor's end of the pair may be one that does not wait; that of the threads does. */
static int make(struct xbuf **made, int *near, bool waits)
{
	struct xbuf *xbuf = calloc(1, sizeof(*xbuf));
	int pair[2], error;

	if (!xbuf)
		return -ENOMEM;
	error = syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ? -errno : 0;
	if (error) {
		free(xbuf);
		return error;
	}
	if (!waits)
		syscall(SYS_fcntl, pair[0], F_SETFL, O_RDWR | O_NONBLOCK);
	*near = pair[0];
	xbuf->file = pair[1];
	*made = xbuf;
	return 0;
}

int evl_create_xbuf(size_t i_bufsz, size_t o_bufsz, int flags, const char *format, ...)
{
	struct xbuf *xbuf = NULL;
	int error, efd, near = -1;
	va_list arguments;

	if ((!i_bufsz && !o_bufsz) || flags & ~EVL_CLONE_MASK)
		return -EINVAL;
	evl_init();
	error = make(&xbuf, &near, !(flags & EVL_CLONE_NONBLOCK));
	if (error)
		return error;
	va_start(arguments, format);
	efd = evl_publish(&xbuf->object, &xbufs, flags, near, format, arguments);
	va_end(arguments);
	if (efd < 0) {
		ends(&xbuf->object);
		syscall(SYS_close, near);
		return efd;
	}
	error = carry(xbuf, i_bufsz, o_bufsz);
	if (error)
		primary_close(efd);
	return error ? error : efd;
}
