/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of Linux's that threads in primary mode write to, or read, without going there. */
#ifndef _EVL_PROXY_H
#define _EVL_PROXY_H

#include <evl/factory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Without EVL_CLONE_INPUT, it is for output. */
int evl_create_proxy(int targetfd, size_t bufsz, size_t granularity, int flags, const char *format, ...);
ssize_t evl_send_proxy(int proxyfd, const void *buffer, size_t size);
int evl_vprint_proxy(int proxyfd, const char *format, va_list arguments);
int evl_print_proxy(int proxyfd, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* To the standard output. */
int evl_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define evl_new_proxy(targetfd, bufsz, ...) evl_create_proxy(targetfd, bufsz, 0, EVL_CLONE_OUTPUT, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
