/*
 * In the style of the time: data acquisition. A header for both sides, a thread that samples, a
 * handler for commands, an I/O control; in Linux a program that waits in select().
 *
 * partner: show-daq
 * warns: implicit declaration of function 'copy_to_user'
 * prints: daq: bad command 58
 * prints: Linux: 200 samples, 0 torn, 0 out of order, 0 of another rate
 * prints: daq: all channels within 12 bits, period 2000
 * run: --memory 512
 * limit: 300
 */
#include "native/style-daq.h"
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <pthread.h>
#include <linux/init.h>
#include <pillion.h>

MODULE_AUTHOR("J. Random Student");
MODULE_DESCRIPTION("fake A/D board");
MODULE_PARM(period_us, "i");
MODULE_PARM_DESC(period_us, "sampling period in us");
int period_us = 1000;

static pthread_t daq_thread;
static struct sample last;
static volatile int running = 0;
static int wide;

static inline short read_adc(int ch)
{
	static unsigned long seed[NCHAN] = {1, 2, 3, 4};
	seed[ch] = seed[ch] * 1103515245UL + 12345;
	return (short) ((seed[ch] >> 16) & 0xfff);
}

void *acquire(void *arg)
{
	int ch;
	struct sched_param p;

	p.sched_priority = 10;
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
	pthread_make_periodic_np(pthread_self(), gethrtime(), period_us * 1000);
	for (;;) {
		pthread_wait_np();
		if (!running)
			continue;
		last.stamp = clock_gethrtime(CLOCK_RTL_SCHED);
		last.seq++;
		for (ch = 0; ch < NCHAN; ch++) {
			last.chan[ch] = read_adc(ch);
			wide += last.chan[ch] & ~0xfff;
		}
		if (rtf_put(DATA_FIFO, &last, sizeof last) < 0)
			last.flags |= 1;	/* overrun */
	}
	return NULL;
}

int cmd_handler(unsigned int fifo)
{
	daq_cmd c;
	int n;
	while ((n = rtf_get(fifo, &c, sizeof(c))) == sizeof(c)) switch (c.what) {
		case DAQ_START: running = 1; break;
		case DAQ_STOP: running = 0; break;
		case DAQ_RATE: period_us = c.arg;
			pthread_make_periodic_np(daq_thread, gethrtime(), period_us * 1000);
			break;
		case DAQ_TEXT: printk("Linux: %s\n", c.text); pillion_unload(); break;
		default: printk(KERN_WARNING "daq: bad command %x\n", c.what); return -EINVAL;
	}
	return 0;
}

int daq_ioctl(unsigned int fifo, unsigned int cmd, unsigned long arg)
{
	if (cmd == DAQ_GETSTAT) {
		copy_to_user((void *) arg, &last, sizeof last);
		return 0;
	}
	return -ENOTTY;
}

int init_module(void)
{
	int status;
	rtf_destroy(DATA_FIFO);
	rtf_destroy(CMD_FIFO);
	if ((status = rtf_create(DATA_FIFO, 1000 * sizeof(struct sample))) != 0) {
		printk("daq: rtf_create %d\n", status);
		return status;
	}
	rtf_create(CMD_FIFO, 256);
	rtf_create_handler(CMD_FIFO, cmd_handler);
	rtf_link_user_ioctl(CMD_FIFO, daq_ioctl);
	return pthread_create(&daq_thread, NULL, acquire, 0);
}

void cleanup_module(void)
{
	pthread_cancel(daq_thread);
	pthread_join(daq_thread, NULL);
	rtf_destroy(DATA_FIFO);
	rtf_destroy(CMD_FIFO);
	printk(KERN_INFO "daq: all channels %s 12 bits, period %d\n", wide ? "beyond" : "within", period_us);
}
