/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers between primary mode, which has oob_read and oob_write, and Linux, which has read and
 * write, poll and select.
 */
#ifndef _EVL_XBUF_H
#define _EVL_XBUF_H

#include <evl/factory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes from Linux and to Linux; 0: none go there. */
int evl_create_xbuf(size_t i_bufsz, size_t o_bufsz, int flags, const char *format, ...);

#define evl_new_xbuf(bufsz, ...) evl_create_xbuf(bufsz, bufsz, EVL_CLONE_PRIVATE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
