/*
 * C as it was usual for RTLinux compiles with warnings: functions without declarations and types,
 * and pointers as numbers.
 *
 * warns: implicit declaration of function 'half'
 * prints: half of 42 is 21
 * prints: one pointer for another: 7
 */
#include <linux/module.h>
#include <rtl.h>
#include <pillion.h>

init_module()
{
	static int number = 7;
	long address = &number;
	unsigned int *other = address;

	rtl_printf("half of 42 is %d\n", half(42));
	rtl_printf("one pointer for another: %u\n", *other);
	pillion_unload();
	return 0;
}

half(n)
	int n;
{
	return n / 2;
}

void cleanup_module()
{
}
