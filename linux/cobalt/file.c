// SPDX-License-Identifier: GPL-2.0-only
/* Calls with descriptors: to this library's objects, or to Linux. */
#include "file.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "internal.h"
#include "primary/lock.h"

void cobalt_put_cancelled(void *file)
{
	primary_lock();
	primary_put(file);
	primary_unlock();
}

enum operation { READ, WRITE, IOCTL };

static ssize_t carry_out(struct primary_file *file, enum operation operation, void *buffer, unsigned long number)
{
	const struct cobalt_kind *kind = cobalt_kind_of(file);

	if (operation == READ && kind->read)
		return kind->read(file, buffer, number);
	if (operation == WRITE && kind->write)
		return kind->write(file, buffer, number);
	if (operation == IOCTL && kind->ioctl)
		return kind->ioctl(file, number, buffer);
	return -EINVAL;
}

/* Does something with a file of this library's. Returns false if it is none. */
static bool with(int number, enum operation operation, void *buffer, unsigned long size, ssize_t *result)
{
	struct primary_file *file;

	if (!primary_is_file(number))
		return false;
	primary_lock();
	file = primary_get(number, NULL);
	if (file) {
		pthread_cleanup_push(cobalt_put_cancelled, file);
		*result = carry_out(file, operation, buffer, size);
		pthread_cleanup_pop(0);
		primary_put(file);
	}
	primary_unlock();
	return file;
}

WRAP(ssize_t, read, int number, void *buffer, size_t size)
{
	ssize_t result;

	return with(number, READ, buffer, size, &result) ? cobalt_told(result) : __real_read(number, buffer, size);
}

WRAP(ssize_t, write, int number, const void *buffer, size_t size)
{
	ssize_t result;

	if (with(number, WRITE, (void *)buffer, size, &result))
		return cobalt_told(result);
	return __real_write(number, buffer, size);
}

WRAP(int, ioctl, int number, unsigned long request, ...)
{
	va_list arguments;
	ssize_t result;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (with(number, IOCTL, argument, request, &result))
		return cobalt_told(result);
	return __real_ioctl(number, request, argument);
}

WRAP(int, close, int number)
{
	return primary_is_file(number) ? cobalt_told(primary_close(number)) : __real_close(number);
}

WRAP(int, fcntl, int number, int command, ...)
{
	struct primary_file *file = NULL;
	int result = 0;
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (!primary_is_file(number) || (command != F_GETFL && command != F_SETFL))
		return __real_fcntl(number, command, argument);
	primary_lock();
	file = primary_get(number, NULL);
	if (file && command == F_SETFL)
		file->flags = (uintptr_t)argument & O_NONBLOCK;
	else if (file)
		result = O_RDWR | file->flags;
	if (file)
		primary_put(file);
	primary_unlock();
	return cobalt_told(file ? result : -EBADF);
}

/* A mode is there if the file may be made. */
static int mode_of(int flags, va_list arguments)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, int) : 0;
}

/* There are no devices of real-time drivers: all files are Linux's. */
WRAP(int, open, const char *path, int flags, ...)
{
	va_list arguments;
	int mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return __real_open(path, flags, mode);
}

WRAP(int, open64, const char *path, int flags, ...)
{
	va_list arguments;
	int mode;

	va_start(arguments, flags);
	mode = mode_of(flags, arguments);
	va_end(arguments);
	return __real_open64(path, flags, mode);
}
