/*
 * Ports: those in the system file work; all others read as ones and cannot be claimed. The CMOS
 * clock's registers stand in for a device.
 *
 * task: ports = [{ first = 0x70, count = 2 }]
 * prints: mine 0, next to mine -16, beyond -16
 * prints: claimed 1, not mine 0
 * prints: status B written 1
 * prints: port 0x3f8 is not this task's: ... add ports = [{ first = 0x3f8, count = 1 }] ...
 * prints: port 0x71 is not this task's: ...
 * prints: port 0x3f9 is not this task's: ...
 * prints: not mine ff ffff
 */
#include <rtl.h>
#include <asm/io.h>
#include <linux/ioport.h>
#include <pillion.h>

#define PORT 0x70

static int status(void)
{
	outb(0x0b, PORT);
	return inb(PORT + 1);
}

int init_module(void)
{
	int before, after;

	rtl_printf("mine %d, next to mine %d, beyond %d\n", check_region(PORT, 2), check_region(PORT + 2, 1), check_region(PORT, 3));
	rtl_printf("claimed %d, not mine %d\n", request_region(PORT, 2, "clock") != NULL, request_region(0x3f8, 8, "serial") != NULL);
	before = status();
	outb(0x0b, PORT);
	outb_p(before ^ 1, PORT + 1);
	after = status();
	rtl_printf("status B written %d\n", before ^ after);
	/* Reported once for each port. */
	outb(1, 0x3f8);
	outw(1, PORT + 1);
	outb(1, 0x3f8);
	outb(1, 0x3f9);
	rtl_printf("not mine %x %x\n", inb(0x3f8), inw(PORT + 1));
	release_region(PORT, 2);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
