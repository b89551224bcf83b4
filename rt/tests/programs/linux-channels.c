/*
 * The partner of `channel-test` (linux/tests), which runs in Linux: FIFOs with and without handlers, and shared memory.
 *
 * prints: channels are there
 * prints: channels are gone
 * load: channels
 * task: fifo_kib = 512
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

/* As in linux/tests/test.h. */
#define FIFO_PLAIN 0
#define FIFO_COMMANDS 1
#define FIFO_ANSWERS 2
#define FIFO_IOCTL 4
#define FIFO_BULK 5
#define FIFO_TIMES 6
#define PLAIN_SIZE 128
#define MESSAGE 4096

#define AREA "linux-test"
#define AREA_SIZE 8192

/* As linux/tests makes them with _IO and _IOWR. */
#define IOCTL_DOUBLE 0xc0087401
#define IOCTL_NEXT 0x7402
#define IOCTL_BULK 0x7403
#define IOCTL_AREA 0x7404

struct pair {
	int number;
	int twice;
};

static pthread_t times_thread, bulk_thread;
static sem_t bulk_wanted;
static volatile int messages;
static char *area;

/* Answers a command in capitals, unless it is to be refused. */
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
	case IOCTL_AREA:
		return argument < AREA_SIZE ? area[argument] : -EINVAL;
	default:
		return -EINVAL;
	}
}

/* Puts the time into a FIFO, a hundred times a second; a time that nobody reads stays alone. */
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

/* Sends as many messages as it was asked for, each full of its number, as fast as they are read. */
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
	area = mbuff_alloc(AREA, AREA_SIZE);
	if (!area)
		return -ENOMEM;
	strcpy(area, "from the task");
	sem_init(&bulk_wanted, 0, 0);
	pthread_create(&times_thread, NULL, send_times, NULL);
	pthread_create(&bulk_thread, NULL, send_bulk, NULL);
	rtl_printf("channels are there\n");
	return 0;
}

void cleanup_module(void)
{
	pthread_delete_np(times_thread);
	pthread_delete_np(bulk_thread);
	mbuff_free(AREA, area);
	rtf_destroy(FIFO_PLAIN);
	rtf_destroy(FIFO_COMMANDS);
	rtf_destroy(FIFO_ANSWERS);
	rtf_destroy(FIFO_IOCTL);
	rtf_destroy(FIFO_BULK);
	rtf_destroy(FIFO_TIMES);
	rtl_printf("channels are gone\n");
}
