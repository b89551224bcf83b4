/*
 * The partner of `channel-test` (linux/tests), which runs in Linux: FIFOs with and without
 * handlers, and shared memory.
 *
 * prints: channels are there
 * prints: controls: ? ? ? µs end
 * prints: channels are gone
 * may print: ~...
 * may print: (... bytes of the log are lost)
 * load: channels
 * task: fifo_kib = 512
 * task: share = true
 * channels: shared_fifos = [3]
 * limit: 300
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <rtl_time.h>
#include <rtl_printf.h>
#include <pthread.h>
#include <semaphore.h>
#include <errno.h>
#include <mbuff.h>
#include <linux/module.h>
#include <string.h>

/* The same as in linux/tests/test.h. */
#define FIFO_PLAIN 0
#define FIFO_COMMANDS 1
#define FIFO_ANSWERS 2
#define FIFO_SHARED 3
#define FIFO_IOCTL 4
#define FIFO_BULK 5
#define FIFO_TIMES 6
#define FIFO_OTHER 7
#define FIFO_SLOW 8
#define PLAIN_SIZE 128
#define MESSAGE 4096

#define AREA "linux-test"
#define AREA_SIZE 8192

/* The numbers that linux/tests makes with _IO and _IOWR. */
#define IOCTL_DOUBLE 0xc0087401
#define IOCTL_NEXT 0x7402
#define IOCTL_BULK 0x7403
#define IOCTL_AREA 0x7404
#define IOCTL_SLOW 0xc0087405
#define IOCTL_TAKE 0x7406
#define IOCTL_PRINT 0x7407
#define IOCTL_RESIZE 0x7408
#define IOCTL_DESTROY 0x7409
#define IOCTL_FLOOD 0x740a

/* More than a 16 KiB log holds: lines of 200 bytes. */
#define FLOOD_LINES 100

/* Duration of a slow handler, and time until bytes are taken out, in microseconds. */
#define SLOW 300000
#define SOON 100000

struct pair {
	int number;
	int twice;
};

static pthread_t times_thread, bulk_thread, taking_thread;
static sem_t bulk_wanted, taking_wanted;
static volatile int messages;
static char *area;

/* Answers a command in capitals, unless the command must be refused. */
static int on_command(unsigned int fifo)
{
	char text[64];
	int i, count = rtf_get(fifo, text, sizeof(text));

	if (count == 6 && !memcmp(text, "refuse", 6))
		return -EPERM;
	for (i = 0; i < count; i++)
		if (text[i] >= 'a' && text[i] <= 'z')
			text[i] -= 'a' - 'A';
	if (count > 0)
		rtf_put(FIFO_ANSWERS, text, count);
	return 0;
}

static void flood(void)
{
	char line[200];
	int n;

	memset(line, '~', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	for (n = 0; n < FLOOD_LINES; n++)
		rtl_printf("%s\n", line);
}

static int on_ioctl(unsigned int fifo, unsigned int command, unsigned long argument)
{
	struct pair *pair = (struct pair *)argument;

	switch (command) {
	case IOCTL_DOUBLE:
		pair->twice = 2 * pair->number;
		return 7;
	case IOCTL_NEXT:
		return argument + 1;
	case IOCTL_BULK:
		messages = argument;
		sem_post(&bulk_wanted);
		return 0;
	case IOCTL_SLOW:
		usleep(SLOW);
		pair->twice = 2 * pair->number;
		return 7;
	case IOCTL_TAKE:
		sem_post(&taking_wanted);
		return 0;
	case IOCTL_PRINT:
		rtl_printf("controls: \x1b \x9b \xc2\x85 \xc2\xb5s end\n");
		return 0;
	case IOCTL_RESIZE:
		return rtf_resize(argument >> 16, argument & 0xffff);
	case IOCTL_DESTROY:
		return rtf_destroy(argument);
	case IOCTL_FLOOD:
		flood();
		return 0;
	case IOCTL_AREA:
		return argument < AREA_SIZE ? area[argument] : -EINVAL;
	default:
		return -EINVAL;
	}
}

static int on_slow(unsigned int fifo)
{
	usleep(SLOW);
	return 0;
}

/* A moment after it was asked, empties a FIFO that nobody else takes from. */
static void *take(void *unused)
{
	char bytes[PLAIN_SIZE];

	for (;;) {
		sem_wait(&taking_wanted);
		usleep(SOON);
		rtf_get(FIFO_PLAIN, bytes, sizeof(bytes));
	}
	return 0;
}

/* Puts the time into a FIFO 100 times a second, unless the last one is still unread. */
static void *send_times(void *unused)
{
	hrtime_t now;

	pthread_make_periodic_np(pthread_self(), gethrtime(), 10 * 1000 * 1000);
	for (;;) {
		pthread_wait_np();
		if (!rtf_isempty(FIFO_TIMES))
			continue;
		now = gethrtime();
		rtf_put(FIFO_TIMES, &now, sizeof(now));
	}
	return 0;
}

/* Sends the requested number of messages, each filled with its number, as fast as they are read. */
static void *send_bulk(void *unused)
{
	static char message[MESSAGE];
	int i;

	for (;;) {
		sem_wait(&bulk_wanted);
		for (i = 0; i < messages; i++) {
			memset(message, i, sizeof(message));
			while (rtf_put(FIFO_BULK, message, sizeof(message)) < 0)
				usleep(100);
		}
	}
	return 0;
}

int init_module(void)
{
	rtf_create(FIFO_PLAIN, PLAIN_SIZE);
	rtf_create(FIFO_COMMANDS, 1024);
	rtf_create(FIFO_ANSWERS, 1024);
	rtf_make_user_pair(FIFO_COMMANDS, FIFO_ANSWERS);
	rtf_create_handler(FIFO_COMMANDS, on_command);
	rtf_create(FIFO_IOCTL, 64);
	rtf_link_user_ioctl(FIFO_IOCTL, on_ioctl);
	rtf_create(FIFO_BULK, 16 * MESSAGE);
	rtf_create(FIFO_TIMES, 64);
	rtf_create(FIFO_SHARED, 64);
	rtf_create(FIFO_OTHER, 64);
	rtf_link_user_ioctl(FIFO_OTHER, on_ioctl);
	rtf_create(FIFO_SLOW, 64);
	rtf_create_handler(FIFO_SLOW, on_slow);
	area = mbuff_alloc(AREA, AREA_SIZE);
	if (!area)
		return -ENOMEM;
	strcpy(area, "from the task");
	sem_init(&bulk_wanted, 0, 0);
	sem_init(&taking_wanted, 0, 0);
	pthread_create(&times_thread, NULL, send_times, NULL);
	pthread_create(&bulk_thread, NULL, send_bulk, NULL);
	pthread_create(&taking_thread, NULL, take, NULL);
	rtl_printf("channels are there\n");
	return 0;
}

void cleanup_module(void)
{
	pthread_delete_np(times_thread);
	pthread_delete_np(bulk_thread);
	pthread_delete_np(taking_thread);
	mbuff_free(AREA, area);
	rtf_destroy(FIFO_PLAIN);
	rtf_destroy(FIFO_COMMANDS);
	rtf_destroy(FIFO_ANSWERS);
	rtf_destroy(FIFO_IOCTL);
	rtf_destroy(FIFO_BULK);
	rtf_destroy(FIFO_TIMES);
	rtf_destroy(FIFO_SHARED);
	rtf_destroy(FIFO_OTHER);
	rtf_destroy(FIFO_SLOW);
	rtl_printf("channels are gone\n");
}
