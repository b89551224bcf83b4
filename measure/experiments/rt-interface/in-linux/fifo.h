/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the real-time program rt-fifo.c and its half in Linux, measure-fifo.c, must agree on. */
#ifndef MEASURE_RT_FIFO_H
#define MEASURE_RT_FIFO_H

/* What Linux writes to /dev/rtf2 to start a measurement. */
#define START_SMALL 's'
#define START_BULK 'b'
#define START_END 'e'

/* /dev/rtf0: small messages, one at a time. */
#define SMALL_MESSAGES 200

/* /dev/rtf1: as many messages as fit. The first ones are not counted. */
#define BULK_SIZE 4096
#define BULK_MESSAGES 1024
#define BULK_AHEAD 64

struct message {
	unsigned long long ticks;
	unsigned char rest[56];
};

#endif
