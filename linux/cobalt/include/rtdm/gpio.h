/* SPDX-License-Identifier: GPL-2.0-only */
/* Pins, as programs name what they ask of one. No driver is here: open() fails. */
#ifndef _RTDM_GPIO_H
#define _RTDM_GPIO_H

#include <rtdm/rtdm.h>

/* What GPIO_RTIOC_TS_... has a read tell. */
struct rtdm_gpio_readout {
	nanosecs_abs_t timestamp;
	int32_t value;
};

#define GPIO_TRIGGER_NONE 0x0
#define GPIO_TRIGGER_EDGE_RISING 0x1
#define GPIO_TRIGGER_EDGE_FALLING 0x2
#define GPIO_TRIGGER_LEVEL_HIGH 0x4
#define GPIO_TRIGGER_LEVEL_LOW 0x8
#define GPIO_TRIGGER_MASK 0xf

#define RTIOC_TYPE_GPIO RTDM_CLASS_GPIO
#define GPIO_RTIOC_DIR_OUT _IOW(RTIOC_TYPE_GPIO, 0, int)
#define GPIO_RTIOC_DIR_IN _IO(RTIOC_TYPE_GPIO, 1)
#define GPIO_RTIOC_IRQEN _IOW(RTIOC_TYPE_GPIO, 2, int)
#define GPIO_RTIOC_IRQDIS _IO(RTIOC_TYPE_GPIO, 3)
#define GPIO_RTIOC_REQS _IO(RTIOC_TYPE_GPIO, 4)
#define GPIO_RTIOC_RELS _IO(RTIOC_TYPE_GPIO, 5)
#define GPIO_RTIOC_TS_MONO _IOR(RTIOC_TYPE_GPIO, 7, int)
#define GPIO_RTIOC_TS GPIO_RTIOC_TS_MONO
#define GPIO_RTIOC_TS_REAL _IOR(RTIOC_TYPE_GPIO, 8, int)

#endif
