/* Prints lines of at most 200 characters, at a pace at which the log loses none. */
#ifndef MEASURE_LINE_H
#define MEASURE_LINE_H

#include <rtl_printf.h>
#include <rtl_sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_LONGEST 200

/*
 * The log is a ring of 16 KiB. The manager empties it, possibly only every 100 ms: 50 lines, 10 KB.
 * If anything is lost all the same, the manager reports that in the log.
 */
#define LINE_PAUSE_US 2000

/* A line under construction: the words that every line of its kind begins with, and the others. */
struct line {
	char text[LINE_LONGEST + 1];
	int head, used;
};

/* Prints a whole line. */
static inline void line_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void line_say(const char *format, ...)
{
	char text[LINE_LONGEST + 1];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	rtl_printf("%s\n", text);
	usleep(LINE_PAUSE_US);
}

/* Marks the run as invalid, with the reason. */
#define line_invalid(...) line_say("invalid " __VA_ARGS__)

/* Begins a line of words with a head. */
static inline void line_begin(struct line *line, const char *kind, const char *name, const char *units)
{
	line->used = line->head = snprintf(line->text, sizeof(line->text), "%s %s %s", kind, name, units);
}

/* Prints the line, if there is a word after the head. */
static inline void line_flush(struct line *line)
{
	if (line->used > line->head)
		line_say("%s", line->text);
	line->used = line->head;
}

/* Adds a word, in a new line if it does not fit into this one. */
static inline void line_word(struct line *line, const char *word)
{
	int length = strlen(word);

	if (line->used + 1 + length > LINE_LONGEST)
		line_flush(line);
	line->used += snprintf(line->text + line->used, sizeof(line->text) - line->used, " %s", word);
}

#endif
