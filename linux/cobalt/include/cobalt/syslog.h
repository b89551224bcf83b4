/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <syslog.h>

#ifndef _COBALT_SYSLOG_H
#define _COBALT_SYSLOG_H

#include <cobalt/wrappers.h>
#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(void, syslog(int priority, const char *format, ...));
COBALT_DECL(void, vsyslog(int priority, const char *format, va_list arguments));
COBALT_DECL(void, __syslog_chk(int priority, int level, const char *format, ...));
COBALT_DECL(void, __vsyslog_chk(int priority, int level, const char *format, va_list arguments));

#ifdef __cplusplus
}
#endif

#endif
