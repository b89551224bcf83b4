/*
 * A program that includes only RTLinux's headers finds what these included from the kernel's, and
 * nothing else: C takes a name that it does not know for a function.
 *
 * warns: implicit declaration of function 'open'
 * prints: port 0x378 is not this task's: writes are dropped, and reads return all ones; add ports = [{ first = 0x378, count = 1 }] to it in the system file
 * prints: port ff, tick 100, soon 1
 * prints: allocated 1, made 3-x
 * prints: /dev/rtf9 1, EUNATCH 1
 * prints: old name of rtl_printf
 * prints: signals 14 18, mapping 0, cycles 1
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <pillion.h>

int init_module(void)
{
	unsigned long before = jiffies;
	char *text = kmalloc(20, GFP_KERNEL);
	unsigned long cycles, later;
	int fifo;

	rtl_printf("port %x, tick %d, soon %d\n", inb(0x378), HZ, jiffies - before < 2);
	memset(text, 0, 20);
	sprintf(text, "%d-%c", 3, 'x');
	rtl_printf("allocated %d, made %s\n", text != NULL, text);
	kfree(text);
	fifo = open("/dev/rtf9", O_NONBLOCK);
	rtl_printf("/dev/rtf9 %d, EUNATCH %d\n", fifo < 0, errno == EUNATCH);
	rt_printk("old name of rtl_printf\n");
	rdtscl(cycles);
	rdtscl(later);
	rtl_printf("signals %d %d, mapping %d, cycles %d\n", SIGALRM, SIGCONT, MAP_FILE, later > cycles);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
