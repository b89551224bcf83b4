/*
 * Linux corrupts everything that it shares with this program, byte by byte and at random, while
 * threads, handlers and shared memory are in use. No period is missed, no call returns an
 * impossible result, and once Linux behaves again the FIFOs work again.
 *
 * prints: handler answers: yes
 * prints: wrong results: 0
 * may print: tick ...
 * never: "pillion":"fault"
 * load: corrupt
 * run: --fault-module
 * limit: 400
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <rtl_time.h>
#include <rtl_printf.h>
#include <pthread.h>
#include <string.h>
#include <mbuff.h>
#include <pillion.h>
#include <linux/module.h>

#define PERIOD 500000
#define OUT 0
#define IN 1
#define HANDLED 2
#define SIZE 300
#define AREA_SIZE 8192

static pthread_t ticker;
static int wrong, answered;
static unsigned char *area;

static void expect(int good)
{
	if (!good)
		wrong++;
}

/*
 * Linux may call both handlers as often as it likes, with any values; data are at most a FIFO's
 * worth.
 */
static int on_data(unsigned int fifo)
{
	char text[SIZE + 1];
	int count = rtf_get(fifo, text, sizeof(text));

	expect(fifo == HANDLED && count >= 0 && count <= SIZE);
	if (count == 5 && !memcmp(text, "hello", 5))
		answered = 1;
	return 0;
}

static int on_control(unsigned int fifo, unsigned int command, unsigned long argument)
{
	expect(fifo == HANDLED);
	return command & 0xff;
}

/* Data in a FIFO can vanish when Linux corrupts it; a put must still work. */
static void exchange(int n)
{
	char record[16], text[SIZE + 1];
	int put, got;

	memset(record, n, sizeof(record));
	put = rtf_put(OUT, record, sizeof(record));
	expect(put == sizeof(record) || put == -ENOSPC);
	if (put == -ENOSPC)
		rtf_flush(OUT);
	got = rtf_get(IN, text, sizeof(text));
	expect(got >= 0 && got <= SIZE);
	if (got == 4 && !memcmp(text, "stop", 4))
		pillion_unload();
	if (n % 64 == 0)
		expect(rtf_isempty(IN) >= 0 && rtf_flush(HANDLED) == 0);
}

static void *tick(void *none)
{
	int n;

	pthread_make_periodic_np(pthread_self(), gethrtime() + PERIOD, PERIOD);
	for (n = 0;; n++) {
		pthread_wait_np();
		exchange(n);
		area[n % AREA_SIZE] = n;
		if (n % 1000 == 0)
			rtl_printf("tick %d\n", n);
	}
	return 0;
}

int init_module(void)
{
	expect(rtf_create(OUT, SIZE) == 0);
	expect(rtf_create(IN, SIZE) == 0);
	expect(rtf_create(HANDLED, SIZE) == 0);
	expect(rtf_create_handler(HANDLED, on_data) == 0);
	expect(rtf_link_user_ioctl(HANDLED, on_control) == 0);
	area = mbuff_alloc("corrupted", AREA_SIZE);
	if (!area)
		return -ENOMEM;
	return pthread_create(&ticker, 0, tick, 0);
}

void cleanup_module(void)
{
	pthread_delete_np(ticker);
	rtl_printf("handler answers: %s\n", answered ? "yes" : "no");
	rtl_printf("wrong results: %d\n", wrong);
	rtf_destroy(OUT);
	rtf_destroy(IN);
	rtf_destroy(HANDLED);
	mbuff_free("corrupted", area);
}
