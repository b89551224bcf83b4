/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes JSON to the standard output. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

/* A string: at most `size` bytes, up to a zero. What is not ASCII becomes a question mark. */
void json_text(const char *text, size_t size);

#endif
