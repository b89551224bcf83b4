/*
 * Uses what the system file does not give, and has wrong parameters and a fault, for
 * `./x test told`.
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <asm/io.h>
#include <linux/module.h>

static int fifo;
static int fault;

MODULE_PARM(fifo, "i");
MODULE_PARM(fault, "i");

int init_module(void)
{
	if (fault)
		*(volatile int *)16 = fault;
	outb(0, 0x3f8);
	return fifo ? rtf_create(1, fifo) : 0;
}

void cleanup_module(void)
{
}
