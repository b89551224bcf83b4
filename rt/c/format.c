/*
 * Kernel formats: the kernel's printk and sprintf take L and q for long long where the C library
 * takes ll. All formatting of the C library goes through vfprintf, which the linker (`--wrap`)
 * redirects here.
 */
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

int __real_vfprintf(void *stream, const char *format, va_list arguments);
int __wrap_vfprintf(void *stream, const char *format, va_list arguments);

/* Longest format that is translated, on the caller's stack; longer ones are left as they are. */
enum { LONGEST = 1024 };

/* Length of the conversion after a '%', up to but without its letter. */
static size_t before_letter(const char *text)
{
	return strspn(text, "#0- +'123456789*.$hlLqjzt");
}

/* Writes the conversion to `to`, with the C library's qualifiers; returns the position after it. */
static char *translate(char *to, const char *conversion, size_t length)
{
	int whole = conversion[length] && strchr("diouxX", conversion[length]);

	for (size_t i = 0; i < length; i++) {
		if (whole && (conversion[i] == 'L' || conversion[i] == 'q')) {
			*to++ = 'l';
			*to++ = 'l';
		} else {
			*to++ = conversion[i];
		}
	}
	if (conversion[length])
		*to++ = conversion[length];
	return to;
}

/* Writes the whole format to `to`, which must have room for twice its length. */
static void translate_all(char *to, const char *format)
{
	while (*format) {
		*to++ = *format;
		if (*format++ == '%') {
			size_t length = before_letter(format);

			to = translate(to, format, length);
			format += length + (format[length] != 0);
		}
	}
	*to = 0;
}

int __wrap_vfprintf(void *stream, const char *format, va_list arguments)
{
	char translated[2 * LONGEST];

	if (strlen(format) >= LONGEST || !strpbrk(format, "Lq"))
		return __real_vfprintf(stream, format, arguments);
	translate_all(translated, format);
	return __real_vfprintf(stream, translated, arguments);
}
