/* As <linux/mc146818rtc.h>. */
#ifndef ASM_MC146818RTC_H
#define ASM_MC146818RTC_H

#include <linux/mc146818rtc.h>

#endif
