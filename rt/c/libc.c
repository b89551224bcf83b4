/*
 * Replacements for functions of the C library that would need an operating system or another
 * thread. The library formats a string as a stream; such a stream is never shared, registered,
 * flushed or locked, but the code that does so would be linked in.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>

#include "print.h"

/* Called when the program ends, to flush all streams; there are none. */
void __stdio_exit(void)
{
}

void __stdio_exit_needed(void)
{
}

int __lockfile(void *stream)
{
	(void)stream;
	return 0;
}

void __unlockfile(void *stream)
{
	(void)stream;
}

static const struct {
	int number;
	const char *text;
} errors[] = {
	{ 0, "No error" },
	{ EPERM, "Not permitted" },
	{ ENOENT, "No such name" },
	{ ESRCH, "No such thread" },
	{ EINTR, "Interrupted" },
	{ EIO, "Input or output failed" },
	{ EBADF, "Not an open descriptor" },
	{ EAGAIN, "Temporarily unavailable" },
	{ ENOMEM, "Out of memory" },
	{ EACCES, "No access" },
	{ EFAULT, "Bad address" },
	{ EBUSY, "In use" },
	{ EEXIST, "Already exists" },
	{ ENODEV, "No such device" },
	{ EINVAL, "Invalid argument" },
	{ EMFILE, "Too many open descriptors" },
	{ ENOTTY, "Not supported by this device" },
	{ ENOSPC, "No room" },
	{ ESPIPE, "Cannot seek" },
	{ ERANGE, "Out of range" },
	{ EDEADLK, "Would deadlock" },
	{ ENAMETOOLONG, "The name is too long" },
	{ ENOSYS, "Not implemented" },
	{ EUNATCH, "Not attached" },
	{ EMSGSIZE, "The message is too long" },
	{ ENOTSUP, "Not supported" },
	{ ETIMEDOUT, "Timed out" },
	{ EOWNERDEAD, "The owner has ended" },
};

/* The C library's own asks for the thread's language. */
char *strerror(int number)
{
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == number)
			return (char *)errors[i].text;
	return (char *)"Unknown error";
}

/* There is no environment. */
char *getenv(const char *name)
{
	(void)name;
	return NULL;
}

/* A module ends through cleanup_module, not through handlers. */
int atexit(void (*function)(void))
{
	(void)function;
	return -1;
}

long simple_strtol(const char *text, char **end, unsigned int base)
{
	return strtol(text, end, (int)base);
}

unsigned long simple_strtoul(const char *text, char **end, unsigned int base)
{
	return strtoul(text, end, (int)base);
}

unsigned long long simple_strtoull(const char *text, char **end, unsigned int base)
{
	return strtoull(text, end, (int)base);
}
