/*
 * A hostile task beside fifos.c: in what it publishes of its own FIFO (`Status` of
 * abi/src/channel.rs), it says that reads of it are to take from another task's.
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <linux/module.h>

#include "fifos.h"

#define STATUS 0x6000000000ul
#define ENTRIES 4096
#define ENTRY 64
#define READ_FROM 12

int init_module(void)
{
	volatile unsigned int *from = (void *)(STATUS + ENTRIES + FIFO_STOLEN * ENTRY + READ_FROM);

	if (rtf_create(FIFO_STOLEN, FIFO_BYTES) < 0 || *from != FIFO_STOLEN)
		return -1;
	*from = FIFO_RECORDS;
	return 0;
}

void cleanup_module(void)
{
	rtf_destroy(FIFO_STOLEN);
}
