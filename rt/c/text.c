/* Replacements for string functions that musl gets wrong for some arguments. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

/* musl's finds nothing in an empty text, not even an empty part. */
char *strcasestr(const char *text, const char *part)
{
	size_t length = strlen(part);

	for (; strncasecmp(text, part, length); text++)
		if (!*text)
			return NULL;
	return (char *)text;
}

/* musl's functions subtract, which overflows where the characters are far apart. */
int wmemcmp(const wchar_t *a, const wchar_t *b, size_t count)
{
	for (; count; count--, a++, b++)
		if (*a != *b)
			return *a < *b ? -1 : 1;
	return 0;
}

int wcsncmp(const wchar_t *a, const wchar_t *b, size_t count)
{
	for (; count && *a && *a == *b; count--, a++, b++)
		;
	return count ? wmemcmp(a, b, 1) : 0;
}

int wcscmp(const wchar_t *a, const wchar_t *b)
{
	return wcsncmp(a, b, (size_t)-1);
}
