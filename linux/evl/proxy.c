// SPDX-License-Identifier: GPL-2.0-only
/* Proxies. The descriptor is the target's as well, for threads in Linux. */
#include <errno.h>
#include <evl/evl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "carry.h"
#include "primary/call.h"
#include "primary/lock.h"
#include "primary/print.h"
#include "threads.h"

/* Longest text in one piece. */
#define LONGEST 4096

struct proxy {
	struct evl_object object;
	int file;
	struct evl_carrier carrier;
};

static struct proxy *proxy_of(struct evl_object *object)
{
	return holder_of(object, struct proxy, object);
}

static ssize_t do_read(struct evl_object *object, void *buffer, size_t size, bool waits)
{
	struct evl_carrier *carrier = &proxy_of(object)->carrier;

	return carrier->is_output ? -EBADF : evl_carrier_read(carrier, buffer, size, true, waits);
}

static ssize_t do_write(struct evl_object *object, const void *buffer, size_t size, bool waits)
{
	struct evl_carrier *carrier = &proxy_of(object)->carrier;

	return carrier->is_output ? evl_carrier_write(carrier, buffer, size, waits) : -EBADF;
}

static unsigned int events(struct evl_object *object)
{
	return evl_carrier_events(&proxy_of(object)->carrier);
}

static void closes(struct evl_object *object)
{
	evl_carry_no_more(&proxy_of(object)->carrier);
}

static void ends(struct evl_object *object)
{
	struct proxy *proxy = proxy_of(object);

	evl_carrier_ends(&proxy->carrier);
	if (proxy->file >= 0)
		primary_close_file(proxy->file);
	free(proxy);
}

static const struct evl_kind proxies = {
	.events = events, .read = do_read, .write = do_write, .closes = closes, .ends = ends
};

static int copy_of(int file)
{
	int copy = syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? -errno : copy;
}

static int publish(struct proxy *proxy, int flags, const char *format, va_list arguments)
{
	int number = copy_of(proxy->file), efd;

	if (number < 0)
		return number;
	efd = evl_publish(&proxy->object, &proxies, flags, number, format, arguments);
	if (efd < 0)
		syscall(SYS_close, number);
	return efd;
}

int evl_create_proxy(int targetfd, size_t bufsz, size_t granularity, int flags, const char *format, ...)
{
	bool is_output = !(flags & EVL_CLONE_INPUT);
	struct proxy *proxy;
	va_list arguments;
	int error, efd;

	if (!bufsz || bufsz < granularity || (granularity && bufsz % granularity) || flags & ~EVL_CLONE_MASK)
		return -EINVAL;
	/* One thing or the other. */
	if (!is_output && flags & EVL_CLONE_OUTPUT)
		return -EINVAL;
	evl_init();
	proxy = calloc(1, sizeof(*proxy));
	if (!proxy)
		return -ENOMEM;
	proxy->file = copy_of(targetfd);
	va_start(arguments, format);
	efd = proxy->file < 0 ? proxy->file : publish(proxy, flags, format, arguments);
	va_end(arguments);
	if (efd < 0) {
		ends(&proxy->object);
		return efd;
	}
	error = evl_carry(&proxy->carrier, &proxy->object, proxy->file, bufsz, granularity, is_output);
	if (error)
		primary_close(efd);
	return error ? error : efd;
}

ssize_t evl_send_proxy(int proxyfd, const void *buffer, size_t size)
{
	struct evl_object *object;
	bool waits;

	object = evl_enter_any(proxyfd, &waits);
	if (!object)
		return -EBADF;
	return evl_leave(object, object->kind == &proxies ? do_write(object, buffer, size, waits) : -EBADF);
}

int evl_vprint_proxy(int proxyfd, const char *format, va_list arguments)
{
	char text[LONGEST];
	int size = vsnprintf(text, sizeof(text), format, arguments);

	if (size < 0)
		return -EINVAL;
	return evl_send_proxy(proxyfd, text, size < LONGEST ? size : LONGEST - 1);
}

int evl_print_proxy(int proxyfd, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = evl_vprint_proxy(proxyfd, format, arguments);
	va_end(arguments);
	return result;
}

int evl_printf(const char *format, ...)
{
	bool is_inband = !primary_is_now();
	va_list arguments;
	int result;

	va_start(arguments, format);
	if (is_inband)
		primary_print_flush();
	result = is_inband ? vprintf(format, arguments) : primary_say(stdout, 0, format, arguments);
	va_end(arguments);
	return result;
}
