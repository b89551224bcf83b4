/* daq.h - what module and display program agree on */
#ifndef _DAQ_H_
#define _DAQ_H_
#ifdef __KERNEL__
#include <linux/types.h>
#include <rtl_time.h>
#else
#include <sys/types.h>
#include <rtl_time.h>
#endif
#include <linux/ioctl.h>
#define DATA_FIFO 0
#define CMD_FIFO 1
#define NCHAN 4
struct sample {
	hrtime_t stamp;
	long seq;
	short chan[NCHAN];
	unsigned char flags;
};
typedef struct { int what; int arg; char text[60]; } daq_cmd;
enum { DAQ_START = 'S', DAQ_STOP = 'P', DAQ_RATE = 'R', DAQ_TEXT = 'T' };
#define DAQ_GETSTAT _IOR('q', 1, struct sample)
#endif
