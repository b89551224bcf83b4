/*
 * All ways to print: each call's text appears once, in order, and formats work as in the C library.
 *
 * prints: rtl_printf 42 ff text  -7| 1.500000 2.50e+03 %
 * prints: it gave 5
 * prints: rt_printk
 * prints: printk with a level
 * prints: printk without
 * prints: rtl_cprintf x
 * prints: conpr
 * prints: printf 18446744073709551615
 * prints: putchar!
 * prints: puts
 * prints: stderr 3
 * prints: perror: Invalid argument
 * prints: write
 * prints: aabb0000000ccdd
 */
#include <rtl.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <pillion.h>

int init_module(void)
{
	int length;

	rtl_printf("rtl_printf %d %x %s %3d| %f %.2e %%\n", 42, 255, "text", -7, 1.5, 2500.0);
	length = printk("%s", "");
	length += snprintf(NULL, 0, "%05d", 1);
	rtl_printf("it gave %d\n", length);
	rt_printk("rt_printk\n");
	printk(KERN_WARNING "printk with a level\n");
	printk("printk without\n");
	rtl_cprintf("rtl_cprintf %c\n", 'x');
	conpr("conpr\n");
	printf("printf %llu\n", ~0ULL);
	printf("putchar");
	putchar('!');
	putchar('\n');
	puts("puts");
	fprintf(stderr, "stderr %d\n", 3);
	errno = EINVAL;
	perror("perror");
	write(1, "write\n", 6);
	rtl_printf("aabb%07d%s\n", 0, "ccdd");
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
