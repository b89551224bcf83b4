/*
 * Strings, memory and characters: the C library returns what the host's does.
 *
 * native: -lm
 * prints: strings: 1659 lines, 0 differ
 * task: memory_kib = 1024
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>
#include <unistd.h>

#define WHAT "strings"
#define LINES_FILE "c-strings.native"
#include "native/lines.h"

#ifdef NATIVE
/* Missing in some hosts' C libraries; written by the manual. */
#define strlcpy strlcpy_by_the_manual
static size_t strlcpy(char *to, const char *from, size_t size)
{
	if (size)
		snprintf(to, size, "%s", from);
	return strlen(from);
}
#define strlcat strlcat_by_the_manual
static size_t strlcat(char *to, const char *from, size_t size)
{
	size_t is = strnlen(to, size);

	return is + strlcpy(to + is, from, size - is);
}
/* glibc uses that name for another function unless told otherwise. */
int __xpg_strerror_r(int, char *, size_t);
#define strerror_r __xpg_strerror_r
#else
void swab(const void *from, void *to, ssize_t size);	/* not among the headers of old programs */
#endif

static const char *const words[] = { "", "a", "ab", "abc", "abcabcabd", "Abc", "ABC def", "the quick brown fox jumps over the lazy dog, twice", "\xe4\xf6\xfc", "a,b;;c, d", "0123456789abcdef0123456789abcdef" };
#define WORDS (sizeof(words) / sizeof(words[0]))

static void strings(void)
{
	unsigned int i, j;
	char text[200], more[200], *rest, *token;

	for (i = 0; i < WORDS; i++)
		for (j = 0; j < WORDS; j++) {
			const char *a = words[i], *b = words[j], *found = strstr(a, b), *any = strpbrk(a, b), *nocase = strcasestr(a, b);

			SAY("%u %u: %d %d %d %d %d %zu %zu %td %td %td %d", i, j, sign(strcmp(a, b)), sign(strncmp(a, b, 3)), sign(strcasecmp(a, b)), sign(strncasecmp(a, b, 2)),
			    sign(strcoll(a, b)), strspn(a, b), strcspn(a, b), found ? found - a : -1, any ? any - a : -1, nocase ? nocase - a : -1,
			    sign(memcmp(a, b, strlen(a) < strlen(b) ? strlen(a) : strlen(b))));
			strcpy(text, a);
			strncat(text, b, 5);
			SAY("%s %s %td %zu", text, strcat(strcpy(more, b), a), stpcpy(text, b) - text, strxfrm(more, a, sizeof(more)));
		}
	for (i = 0; i < WORDS; i++) {
		const char *a = words[i];
		char *first = strchr(a, 'b'), *last = strrchr(a, 'b');

		memset(text, '#', sizeof(text));
		strncpy(text, a, 6);
		SAY("%zu %zu %td %td %td %.10s %td", strlen(a), strnlen(a, 4), first ? first - a : -1, last ? last - a : -1, strchrnul(a, 'c') - a, text,
		    (char *)memchr(a, 0, strlen(a) + 1) - a);
		memset(text, '#', sizeof(text));
		SAY("%td %td %.10s", stpncpy(text, a, 5) - text, (char *)memrchr(a, a[0], strlen(a) + 1) - a, text);
		strcpy(text, a);
		for (token = strtok_r(text, ",; ", &rest); token; token = strtok_r(NULL, ",; ", &rest))
			SAY("token %s", token);
		strcpy(text, a);
		for (token = strtok(text, "bc"); token; token = strtok(NULL, "bc"))
			SAY("token %s", token);
		strcpy(text, a);
		for (rest = text; (token = strsep(&rest, ",;")) != NULL;)
			SAY("part %s", token);
		token = strdup(a);
		rest = strndup(a, 3);
		SAY("%s %s %d", token, rest, memmem(a, strlen(a), "bc", 2) ? 1 : 0);
		free(token);
		free(rest);
	}
}

static void memory(void)
{
	static unsigned char a[600], b[600];
	unsigned long long seed = 1;
	unsigned int i, turn, sum;

	for (turn = 0; turn < 300; turn++) {
		unsigned int from = draw(&seed) % 256, to = draw(&seed) % 256, size = draw(&seed) % 300;

		for (i = 0; i < sizeof(a); i++)
			a[i] = (unsigned char)draw(&seed);
		if (turn % 4 == 0)
			memmove(a + to, a + from, size);
		else if (turn % 4 == 1)
			memcpy(b + to, a + from, size);
		else if (turn % 4 == 2)
			memset(b + to, turn, size);
		else
			SAY("copied %td %td", (unsigned char *)memccpy(b + to, a + from, 7, size) - b > 0 ? 1L : 0L, (unsigned char *)mempcpy(b, a, size) - b);
		for (sum = i = 0; i < sizeof(a); i++)
			sum = sum * 31 + a[i] * 7 + b[i];
		SAY("memory %u %u %u: %08x %d", from, to, size, sum, sign(memcmp(a + from, b + to, size)));
	}
}

/* A text of few different characters, so that searches find something. */
static const char *draw_text(char *text, unsigned int most, unsigned long long *seed)
{
	unsigned int length = draw(seed) % most, i;

	for (i = 0; i < length; i++)
		text[i] = "aAbB,;0129\xe4\xc4"[draw(seed) % 12];
	text[i] = 0;
	return text;
}

/* Results for one argument, two, and two with a number. */
static void random_strings(void)
{
	char a[60], b[60], text[200], *rest, *part;
	unsigned long long seed = 2;
	unsigned int turn, n;

	for (turn = 1; turn <= 3000; turn++) {
		draw_text(a, 50, &seed);
		draw_text(b, turn % 3 ? 4 : 50, &seed);
		if (turn % 5 == 0)
			memcpy(b, a, 1 + draw(&seed) % 20), b[20] = 0;
		n = draw(&seed) % 30;

		mix(strlen(a)), mix(strnlen(a, n)), mix(strspn(a, b)), mix(strcspn(a, b));
		mix(sign(strcmp(a, b))), mix(sign(strncmp(a, b, n))), mix(sign(strcoll(a, b)));
		mix(sign(strcasecmp(a, b))), mix(sign(strncasecmp(a, b, n)));
		mix(AT(strchr(a, b[0]), a)), mix(AT(strrchr(a, b[0]), a)), mix(AT(strchrnul(a, b[0]), a)), mix(AT(index(a, b[0]), a)), mix(AT(rindex(a, b[0]), a));
		mix(AT(strstr(a, b), a)), mix(AT(strpbrk(a, b), a)), mix(AT(strcasestr(a, b), a));

		memset(text, '#', sizeof(text));
		mix(AT(strcpy(text, a), text)), mix(AT(strcat(text, b), text)), mix(AT(strncat(text, b, n), text));
		mix(AT(strncpy(text + 160, b, n), text)), mix_bytes(text, sizeof(text));
		mix(AT(stpcpy(text, b), text)), mix(AT(stpncpy(text + 100, a, n), text)), mix(strxfrm(text + 150, b, 50)), mix_bytes(text, sizeof(text));
		mix(strlcpy(text, a, n)), mix(strlcat(text + 100, b, 100 + n)), mix(strlcat(text + 100, b, n)), mix_bytes(text, sizeof(text));

		strcpy(text, a);
		for (part = strtok(text, b); part; part = strtok(NULL, b))
			mix(AT(part, text)), mix(strlen(part));
		strcpy(text, a);
		for (part = strtok_r(text, b, &rest); part; part = strtok_r(NULL, b, &rest))
			mix(AT(part, text)), mix(strlen(part));
		strcpy(text, a);
		for (rest = text; (part = strsep(&rest, b)) != NULL;)
			mix(AT(part, text)), mix(strlen(part));
		part = strdup(a);
		rest = strndup(a, n);
		mix_bytes(part, strlen(a) + 1), mix_bytes(rest, strlen(rest) + 1);
		free(part);
		free(rest);
		if (turn % 50 == 0)
			say_digest("strings", turn);
	}
}

static void random_memory(void)
{
	unsigned char a[200], b[200];
	unsigned long long seed = 3;
	unsigned int turn, i, size, from, part;

	for (turn = 1; turn <= 2000; turn++) {
		for (i = 0; i < sizeof(a); i++)
			a[i] = draw(&seed) % (turn % 2 ? 3 : 256), b[i] = turn % 3 ? a[i] : draw(&seed) % 3;
		size = draw(&seed) % 100, from = draw(&seed) % 50, part = draw(&seed) % 6;
		b[from + draw(&seed) % 100] ^= 1;
		mix(sign(memcmp(a + from, b + from, size))), mix(!bcmp(a + from, b + from, size));
		mix(AT((unsigned char *)memchr(a + from, a[100], size), a)), mix(AT((unsigned char *)memrchr(a + from, a[101], size), a));
		mix(AT((unsigned char *)memmem(a + from, size, b + 70, part), a));
		mix(AT((unsigned char *)memccpy(b + from, a, a[102], size), b)), mix_bytes(b, sizeof(b));
		mix(AT((unsigned char *)mempcpy(b, a + from, size), b)), mix(AT((unsigned char *)memcpy(b + 100, a, size), b)), mix_bytes(b, sizeof(b));
		mix(AT((unsigned char *)memmove(a + from, a + part, size), a)), mix(AT((unsigned char *)memset(b + from, turn, size), b));
		mix_bytes(a, sizeof(a)), mix_bytes(b, sizeof(b));
		bcopy(a + from, a + part * 8, size);
		bzero(b + part, size);
		explicit_bzero(b + 150, part);
		mix_bytes(a, sizeof(a)), mix_bytes(b, sizeof(b));
		swab(a + from, b, size & ~1U);
		mix_bytes(b, sizeof(b));
		if (turn % 50 == 0)
			say_digest("memory", turn);
	}
}

static void words_of_bits(void)
{
	unsigned long long seed = 4;
	unsigned int i, bit;

	for (i = 0; i <= 64; i++) {
		unsigned long long value = draw(&seed) << 24 ^ draw(&seed);

		value = i < 64 ? (value | 1) << i : 0;
		SAY("%llx: %d %d %d", value, ffs((int)value), ffsl((long)value), ffsll((long long)value));
		for (bit = 0; bit < 64; bit += 16)
			SAY("%x %x %x %x", (htonl)((unsigned int)(value >> bit)), (ntohl)((unsigned int)(value >> bit)), (htons)((unsigned short)(value >> bit)), (ntohs)((unsigned short)(value >> bit)));
	}
}

/* The texts are the runtime's own, and short. */
static void errors(void)
{
	static const int numbers[] = { 0, ENOMEM, EINVAL, ERANGE, 12345 };
	char text[100];
	unsigned int i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int all = strerror_r(numbers[i], text, sizeof(text)), same = !strcmp(text, strerror(numbers[i])), some = strerror_r(numbers[i], text, 4);

		SAY("error %d: %d %d", numbers[i] == 12345 ? 0 : all, same, numbers[i] == 12345 ? 0 : some);
	}
}

static void resized(void)
{
	size_t counts[] = { 1, 10, 1000, (size_t)-1 / 8, (size_t)-1 / 8 + 1, (size_t)-1 / 2 };
	unsigned int i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		char *first = strdup("kept"), *resized;

		errno = 0;
		resized = reallocarray(first, counts[i], 16);
		SAY("resized: %d %d %s", resized != NULL, errno == ENOMEM, counts[i] > 1 || !resized ? (resized ? resized : first) : "kept");
		free(resized ? resized : first);
	}
}

static void characters(void)
{
	int c;

	for (c = -1; c < 256; c++)
		SAY("%d: %d%d%d%d%d%d%d%d%d%d%d%d%d %d %d %d", c, !!(isalnum)(c), !!(isalpha)(c), !!(isblank)(c), !!(iscntrl)(c), !!(isdigit)(c), !!(isgraph)(c), !!(islower)(c), !!(isprint)(c),
		    !!(ispunct)(c), !!(isspace)(c), !!(isupper)(c), !!(isxdigit)(c), !!(isascii)(c), (tolower)(c), (toupper)(c), (toascii)(c));
	/* As the headers define them. */
	for (c = -1; c < 256; c++)
		SAY("%d: %d%d%d%d%d%d%d%d%d%d%d%d%d %d %d %d", c, !!isalnum(c), !!isalpha(c), !!isblank(c), !!iscntrl(c), !!isdigit(c), !!isgraph(c), !!islower(c), !!isprint(c), !!ispunct(c),
		    !!isspace(c), !!isupper(c), !!isxdigit(c), !!isascii(c), tolower(c), toupper(c), toascii(c));
}

static void calls(void)
{
	strings();
	random_strings();
	memory();
	random_memory();
	words_of_bits();
	errors();
	resized();
	characters();
}
