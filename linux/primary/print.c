// SPDX-License-Identifier: GPL-2.0-only
#include "print.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "call.h"
#include "native.h"

NATIVE_DECLARE(fwrite);
NATIVE_DECLARE(syslog);
NATIVE_DECLARE(pthread_mutex_lock);
NATIVE_DECLARE(pthread_mutex_unlock);

/* Bytes of the ring, a power of two, and of the longest text in one piece. */
#define RING (1 << 17)
#define LONGEST 4096

/* How often the ring is looked at, in milliseconds. */
#define PAUSE 50

/*
 * A text in the ring, at a multiple of its alignment. Who prints reserves room for it, fills it in,
 * and then sets its size; the writer waits for the size of the first, and sets it to 0 again.
 */
struct entry {
	uint32_t size;
	int priority;
	FILE *stream;
	char text[];
};

static _Alignas(struct entry) char ring[RING];
/* Bytes that were reserved and that were written, since the beginning. */
static uint64_t reserved, written;
static unsigned long lost;

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static struct entry *entry_at(uint64_t position)
{
	return (struct entry *)(ring + position % RING);
}

static uint64_t bytes_of(size_t size)
{
	return (sizeof(struct entry) + size + _Alignof(struct entry) - 1) & -_Alignof(struct entry);
}

/* An entry does not go over the ring's end: the rest there is one without a text. */
#define SKIPPED UINT32_MAX

static struct entry *reserve(size_t size)
{
	uint64_t at = __atomic_load_n(&reserved, __ATOMIC_RELAXED), bytes = bytes_of(size), rest;

	do {
		rest = RING - at % RING;
		rest = rest < bytes ? rest : 0;
		if (at + rest + bytes - __atomic_load_n(&written, __ATOMIC_ACQUIRE) > RING)
			return NULL;
	} while (!__atomic_compare_exchange_n(&reserved, &at, at + rest + bytes, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	if (rest)
		__atomic_store_n(&entry_at(at)->size, SKIPPED, __ATOMIC_RELEASE);
	return entry_at(at + rest);
}

static void put(FILE *stream, int priority, const void *text, size_t size)
{
	struct entry *entry = reserve(size);

	if (!entry) {
		__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
		return;
	}
	entry->stream = stream;
	entry->priority = priority;
	memcpy(entry->text, text, size);
	__atomic_store_n(&entry->size, size, __ATOMIC_RELEASE);
}

ssize_t primary_say_text(FILE *stream, int priority, const void *text, size_t size)
{
	size_t done = 0, piece;

	if (!primary_is_now())
		primary_print_begin();
	for (; done < size; done += piece) {
		piece = size - done < LONGEST ? size - done : LONGEST;
		put(stream, priority, (const char *)text + done, piece);
	}
	return size;
}

int primary_say(FILE *stream, int priority, const char *format, va_list arguments)
{
	char text[LONGEST];
	int size = vsnprintf(text, sizeof(text), format, arguments);

	if (size > 0)
		primary_say_text(stream, priority, text, size < LONGEST ? size : LONGEST - 1);
	if (size >= LONGEST)
		__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
	return size;
}

static void write_out(const struct entry *entry)
{
	if (entry->stream == PRIMARY_LOG)
		NATIVE(syslog)(entry->priority, "%.*s", (int)entry->size, entry->text);
	else
		NATIVE(fwrite)(entry->text, 1, entry->size, entry->stream);
}

static bool write_next(void)
{
	struct entry *entry = entry_at(written);
	uint32_t size = __atomic_load_n(&entry->size, __ATOMIC_ACQUIRE);
	uint64_t bytes = size == SKIPPED ? RING - written % RING : bytes_of(size);

	if (!size)
		return false;
	if (size != SKIPPED)
		write_out(entry);
	/* Whatever begins here next begins without a size. */
	memset(entry, 0, bytes);
	__atomic_store_n(&written, written + bytes, __ATOMIC_RELEASE);
	return true;
}

void primary_print_flush(void)
{
	unsigned long count;

	if (__atomic_load_n(&reserved, __ATOMIC_RELAXED) == __atomic_load_n(&written, __ATOMIC_RELAXED))
		return;
	NATIVE(pthread_mutex_lock)(&writing);
	while (write_next())
		;
	count = __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED);
	if (count)
		dprintf(STDERR_FILENO, "pillion: %lu texts of threads in primary mode were lost or cut; print less at a time\n", count);
	NATIVE(pthread_mutex_unlock)(&writing);
}

static void *writer(void *nothing)
{
	for (;;) {
		poll(NULL, 0, PAUSE);
		primary_print_flush();
	}
	return nothing;
}

static int error_of_begin;

static void begin(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + (64 << 10));
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	/* What is not set here, the C library has the thread inherit all the same. */
	pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &(struct sched_param){ 0 });
	error_of_begin = pthread_create(&thread, &attributes, writer, NULL);
	pthread_attr_destroy(&attributes);
	if (!error_of_begin)
		atexit(primary_print_flush);
}

int primary_print_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
	return error_of_begin;
}
