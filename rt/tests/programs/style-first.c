/*
 * In the style of the time: the first interface, whose tasks take an int, and whose times are ticks
 * of the 8254. The program in Linux uses its headers, too.
 *
 * partner: read-first
 * warns: "MODULE" redefined
 * prints: Linux: 5965 ticks, Zappa Frank Zappa
 * prints: unloaded
 * run: --memory 512
 * limit: 300
 */
#define MODULE
#define __KERNEL__
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/version.h>
#include <linux/errno.h>
#include <linux/rt_sched.h>
#include <linux/rtf.h>
#include <asm/rt_irq.h>
#include <asm/rt_time.h>
#include <pillion.h>

RT_TASK mytask;
RT_TASK tasks[2];
#define STACK_SIZE 3000
#define NOW rt_get_time()
static char *data[] = {"Frank ", "Zappa "};

void fun(int t)
{
	int n = 0;
	RTIME old = NOW;
	while (1) {
		RTIME now = NOW;
		int d = (int)(now - old);
		old = now;
		rtf_put(0, &d, sizeof(int));
		if (t == 1 && ++n % 4 == 0) rtf_put(1, data[n / 4 & 1], 6);
		rt_task_wait();
	}
}

int answer(unsigned int fifo)
{
	char text[60];
	int n = rtf_get(fifo, text, sizeof(text) - 1);
	if (n <= 0) return 0;
	text[n] = 0;
	printk("Linux: %s\n", text);
	pillion_unload();
	return 0;
}

int init_module(void)
{
	RTIME now = rt_get_time();
	rtf_create(0, 4000);
	rtf_create(1, 4000);
	rtf_create(2, 100);
	rtf_create_handler(2, answer);
	rt_task_init(&mytask, fun, 1, STACK_SIZE, 4);
	rt_task_make_periodic(&mytask, now + (RTIME)(RT_TICKS_PER_SEC / 100), (RTIME)(RT_TICKS_PER_SEC / 200));
	return 0;
}

void cleanup_module(void)
{
	rt_task_delete(&mytask);
	rtf_destroy(0);
	rtf_destroy(1);
	rtf_destroy(2);
	printk("unloaded\n");
}
