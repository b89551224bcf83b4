/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts that others chose, as JSON on the standard output and as they are shown. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

/* A string: at most `size` bytes, up to a zero. What is not ASCII becomes a question mark. */
void json_text(const char *text, size_t size);
/* Replaces what a terminal would not show as a character, up to a zero or to the size. */
void make_plain(char *text, size_t size);

#endif
