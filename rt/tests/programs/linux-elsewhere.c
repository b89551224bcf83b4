/*
 * A task on another processor than Linux: a handler answers each number that a program in Linux
 * writes, and a FIFO that the broker keeps carries bytes to it. Judged by content and order: the
 * processors of a counted run take turns.
 *
 * partner: elsewhere
 * run: --cpus 2 --turn 20
 * task: cpu = 1
 * task: share = true
 * channels: shared_fifos = [9]
 * prints: put 200
 * prints: 50 answers, 0 wrong; 200 bytes, 0 wrong
 * limit: 500
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <pthread.h>
#include <pillion.h>

static int answer(unsigned int fifo)
{
	int number;

	while (rtf_get(fifo, &number, sizeof(number)) == sizeof(number)) {
		number *= 3;
		rtf_put(2, &number, sizeof(number));
	}
	return 0;
}

static int report(unsigned int fifo)
{
	char text[100];
	int count = rtf_get(fifo, text, sizeof(text));

	rtl_printf("%.*s", count, text);
	pillion_unload();
	return 0;
}

int init_module(void)
{
	unsigned char byte;
	int i, count = 0;

	rtf_create(1, 400);
	rtf_create(2, 400);
	rtf_create(3, 100);
	rtf_create(9, 400);
	rtf_create_handler(1, answer);
	rtf_create_handler(3, report);
	for (i = 0; i < 200; i++) {
		byte = i;
		count += rtf_put(9, &byte, 1);
	}
	rtl_printf("put %d\n", count);
	return 0;
}

void cleanup_module(void)
{
}
