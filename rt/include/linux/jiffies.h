/* Linux's tick of 10 ms. */
#ifndef LINUX_JIFFIES_H
#define LINUX_JIFFIES_H

#include <linux/config.h>
#ifdef __cplusplus
extern "C" {
#endif

unsigned long pillion_jiffies(void);
#define jiffies pillion_jiffies()

#define time_after(a, b) ((long)(b) - (long)(a) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)(a) - (long)(b) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)

#ifdef __cplusplus
}
#endif
#endif
