// SPDX-License-Identifier: GPL-2.0-only
/* Texts that others chose, as JSON on the standard output and as they are shown. */
#include <stdio.h>

#include "json.h"

static void put(unsigned char c)
{
	if (c == '"' || c == '\\')
		printf("\\%c", c);
	else if (c < ' ')
		printf("\\u%04x", c);
	else
		putchar(c < 0x7f ? c : '?');
}

void json_text(const char *text, size_t size)
{
	size_t i;

	putchar('"');
	for (i = 0; i < size && text[i]; i++)
		put(text[i]);
	putchar('"');
}

void make_plain(char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size && text[i]; i++)
		if (text[i] < ' ' || text[i] >= 0x7f)
			text[i] = '?';
}
