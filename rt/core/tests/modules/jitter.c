/* jitter meter: min/max, tsc, hrt */
#include <linux/config.h>
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/version.h>
#include <linux/errno.h>
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_time.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <rtl_debug.h>

static int period = 1000000;
static int ntests = 500;
static int fifo_size = 4000;
static int mode = RTL_CLOCK_MODE_ONESHOT;
MODULE_PARM(period, "i");
MODULE_PARM(ntests, "i");
MODULE_PARM(mode, "i");
MODULE_LICENSE("GPL");
MODULE_AUTHOR("me");

pthread_t thread;
int fd_fifo;

typedef struct { hrtime_t min, max; } samp;

void *thread_code(void *param)
{
	hrtime_t expected, now, diff, min_diff, max_diff;
	int i, cnt = 0, old_period;
	struct sched_param p;
	samp s;
	unsigned long t0, t1;

	p.sched_priority = 1;
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
	pthread_setfp_np(pthread_self(), 1);
	rtl_printf("Measurement task starts on CPU %d\n", rtl_getcpuid());
	if (mode) {
		int ret = rtl_setclockmode(CLOCK_REALTIME, RTL_CLOCK_MODE_PERIODIC, period);
		if (ret != 0) {
			conpr("Setting periodic mode failed\n");
			mode = 0;
		}
	} else
		rtl_setclockmode(CLOCK_REALTIME, RTL_CLOCK_MODE_ONESHOT, 0);
	expected = clock_gethrtime(CLOCK_REALTIME) + 2 * (hrtime_t)period;
	fd_fifo = open("/dev/rtf0", O_NONBLOCK);
	if (fd_fifo < 0) {
		rtl_printf("/dev/rtf0 open returned %d\n", fd_fifo);
		return (void *) -1;
	}
	do {
		min_diff = 2000000000; max_diff = -2000000000;
		for (i = 0; i < ntests; i++) {
			++cnt;
			rdtscl(t0);
			clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, hrt2ts(expected), NULL);
			now = clock_gethrtime(CLOCK_REALTIME);
			rdtscl(t1);
			diff = now - expected;
			if (diff < min_diff) min_diff = diff;
			if (diff > max_diff) { max_diff = diff; }
			expected += period;
		}
		s.min = min_diff;
		s.max = max_diff;
		write(fd_fifo, &s, sizeof(s));
		do_every(10) { rtl_printf("max %d\n", (int)max_diff); }
	} while (1);
	return 0;
}

int init_module(void)
{
	pthread_attr_t attr;
	struct sched_param sched_param;
	int thread_status;
	int fifo_status;

	rtf_destroy(0);
	fifo_status = rtf_create(0, fifo_size);
	if (fifo_status) {
		rtl_printf("RTLinux measurement test fail. fifo_status=%d\n", fifo_status);
		return -1;
	}
	pthread_attr_init(&attr);
	if (rtl_cpu_exists(1))
		pthread_attr_setcpu_np(&attr, 1);
	sched_param.sched_priority = 1;
	pthread_attr_setschedparam(&attr, &sched_param);
	rtl_printf("About to thread create\n");
	thread_status = pthread_create(&thread, &attr, thread_code, (void *)1);
	if (thread_status != 0) {
		rtl_printf("failed to create RT-thread: %d\n", thread_status);
		return -1;
	}
	return 0;
}

void cleanup_module(void)
{
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	close(fd_fifo);
	rtf_destroy(0);
}
