/*
 * What modules use of the Linux kernel: its tick, its delays, bits, counters, lists, exchange, and
 * numbers in text.
 *
 * prints: ticks passed 1, slept 0
 * prints: bits a: 0 1 1, found 3
 * prints: counter 6, zero 1
 * prints: list 3 1 2, after removal 3 2, empty 0
 * prints: exchange 1, now 2
 * prints: delays 1
 * prints: time of day 1 1
 * prints: number 255 -8 rest x
 * prints: semaphore: 0 1 0, interruptible 0
 * prints: task 1, named linux-names, module linux-names
 */
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/time.h>
#include <sys/time.h>
#include <asm/atomic.h>
#include <asm/bitops.h>
#include <asm/semaphore.h>
#include <asm/system.h>
#include <rtl.h>
#include <rtl_time.h>
#include <pillion.h>

struct item {
	int number;
	struct list_head link;
};

static LIST_HEAD(list);
static DECLARE_MUTEX(one);
static struct semaphore none;
static struct item items[3] = { { 1 }, { 2 }, { 3 } };

static void show(const char *text)
{
	struct list_head *at;

	rtl_printf("%s", text);
	list_for_each(at, &list)
		rtl_printf(" %d", list_entry(at, struct item, link)->number);
}

int init_module(void)
{
	unsigned long begun = jiffies, word = 0;
	atomic_t counter = ATOMIC_INIT(5);
	hrtime_t time;
	struct timeval day;
	char *end;
	long left;
	unsigned long bits;
	int old = 1, was, set, cleared, zero;

	current->state = TASK_INTERRUPTIBLE;
	left = schedule_timeout(HZ / 10);
	rtl_printf("ticks passed %d, slept %ld\n", time_after(jiffies, begun + HZ / 10 - 2), left);
	set_bit(1, &word);
	was = test_and_set_bit(3, &word);
	set = test_bit(3, &word);
	bits = word;
	cleared = test_and_clear_bit(1, &word);
	rtl_printf("bits %lx: %d %d %d, found %lu\n", bits, was, set, cleared, __ffs(word));
	atomic_inc(&counter);
	rtl_printf("counter %d, ", atomic_read(&counter));
	atomic_set(&counter, 1);
	zero = atomic_dec_and_test(&counter);
	rtl_printf("zero %d\n", zero);
	list_add(&items[0].link, &list);
	list_add_tail(&items[1].link, &list);
	list_add(&items[2].link, &list);
	show("list");
	list_del(&items[0].link);
	show(", after removal");
	rtl_printf(", empty %d\n", list_empty(&list));
	was = xchg(&old, 2);
	rtl_printf("exchange %d, now %d\n", was, old);
	time = gethrtime();
	udelay(100);
	mdelay(1);
	time = gethrtime() - time;
	rtl_printf("delays %d\n", time >= 1100000 && time < 1200000);
	time = gethrtime() / 1000;
	do_gettimeofday(&day);
	time = day.tv_sec * 1000000LL + day.tv_usec - time;
	rtl_printf("time of day %d %d\n", time >= 0 && time < 1000, gettimeofday(&day, NULL) == 0 && day.tv_usec < 1000000);
	left = simple_strtol("-010x", &end, 0);
	rtl_printf("number %lu %ld rest %s\n", simple_strtoul("ff", NULL, 16), left, end);
	init_MUTEX_LOCKED(&none);
	was = down_trylock(&one);
	set = down_trylock(&one);
	up(&one);
	up(&none);
	cleared = down_interruptible(&none);
	down(&one);
	rtl_printf("semaphore: %d %d %d, interruptible %d\n", was, set, down_trylock(&none) == 0, cleared);
	rtl_printf("task %d, named %s, module %s\n", current->pid, current->comm, THIS_MODULE->name);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
