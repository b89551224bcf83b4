/* The PC's clock with CMOS memory: ports 0x70 and 0x71, line 8, if the system file gives them. */
#ifndef LINUX_MC146818RTC_H
#define LINUX_MC146818RTC_H

#include <asm/io.h>

#define RTC_PORT(offset) (0x70 + (offset))
#define RTC_IRQ 8

#define RTC_SECONDS 0
#define RTC_SECONDS_ALARM 1
#define RTC_MINUTES 2
#define RTC_MINUTES_ALARM 3
#define RTC_HOURS 4
#define RTC_HOURS_ALARM 5
#define RTC_DAY_OF_WEEK 6
#define RTC_DAY_OF_MONTH 7
#define RTC_MONTH 8
#define RTC_YEAR 9

#define RTC_REG_A 10
#define RTC_REG_B 11
#define RTC_REG_C 12
#define RTC_REG_D 13

/* Register A: periodic interrupts come at 65536 Hz, halved RTC_RATE_SELECT times. */
#define RTC_FREQ_SELECT RTC_REG_A
#define RTC_UIP 0x80
#define RTC_DIV_CTL 0x70
#define RTC_REF_CLCK_32KHZ 0x20
#define RTC_RATE_SELECT 0x0f

/* Register B: enabled interrupts and the format of numbers. */
#define RTC_CONTROL RTC_REG_B
#define RTC_SET 0x80
#define RTC_PIE 0x40
#define RTC_AIE 0x20
#define RTC_UIE 0x10
#define RTC_SQWE 0x08
#define RTC_DM_BINARY 0x04
#define RTC_24H 0x02
#define RTC_DST_EN 0x01

/* Register C: the interrupt's cause. Reading it allows the next one. */
#define RTC_INTR_FLAGS RTC_REG_C
#define RTC_IRQF 0x80
#define RTC_PF 0x40
#define RTC_AF 0x20
#define RTC_UF 0x10

#define RTC_VALID RTC_REG_D
#define RTC_VRT 0x80

#define CMOS_READ(address) ({ outb_p((address), RTC_PORT(0)); inb_p(RTC_PORT(1)); })
#define CMOS_WRITE(value, address) ({ outb_p((address), RTC_PORT(0)); outb_p((value), RTC_PORT(1)); })

#ifndef BCD_TO_BIN
#define BCD_TO_BIN(value) ((value) = ((value) & 15) + ((value) >> 4) * 10)
#define BIN_TO_BCD(value) ((value) = (((value) / 10) << 4) + (value) % 10)
#endif

#endif
