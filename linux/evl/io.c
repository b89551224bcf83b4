// SPDX-License-Identifier: GPL-2.0-only
/* Input and output of objects that have some. */
#include <errno.h>
#include <evl/syscall.h>
#include <fcntl.h>
#include <unistd.h>

#include "object.h"
#include "primary/lock.h"
#include "primary/native.h"
#include "threads.h"

static ssize_t told(ssize_t result)
{
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

/* Enters an object that an attached thread may read or write; else NULL and errno. */
static struct evl_object *enter(int efd, bool *waits)
{
	struct evl_object *object = evl_current ? evl_enter_any(efd, waits) : NULL;

	if (!object)
		errno = evl_current ? EBADF : EPERM;
	return object;
}

ssize_t oob_read(int efd, void *buffer, size_t size)
{
	bool waits;
	struct evl_object *object = enter(efd, &waits);

	if (!object)
		return -1;
	return told(evl_leave(object, object->kind->read ? object->kind->read(object, buffer, size, waits) : -EINVAL));
}

ssize_t oob_write(int efd, const void *buffer, size_t size)
{
	bool waits;
	struct evl_object *object = enter(efd, &waits);

	if (!object)
		return -1;
	return told(evl_leave(object, object->kind->write ? object->kind->write(object, buffer, size, waits) : -EINVAL));
}

int oob_ioctl(int efd, unsigned long request, ...)
{
	(void)request;
	return told(primary_is_file(efd) ? -ENOTTY : -EBADF);
}

/*
 * The C library's, which the linker wraps for the program: an object ends with its descriptor. In a
 * program that was linked without, it ends when its descriptor's number is used again.
 */
NATIVE_DECLARE(close);
NATIVE_DECLARE(fcntl);

int __wrap_close(int number);
int __wrap_fcntl(int number, int command, ...);

int __wrap_close(int number)
{
	return primary_is_file(number) ? told(primary_close(number)) : __real_close(number);
}

int __wrap_fcntl(int number, int command, ...)
{
	struct primary_file *file;
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (command == F_SETFL && primary_is_file(number)) {
		primary_lock();
		file = primary_get(number, NULL);
		if (file) {
			file->flags = (uintptr_t)argument & O_NONBLOCK;
			primary_put(file);
		}
		primary_unlock();
	}
	return __real_fcntl(number, command, argument);
}
