/* Busy waits. */
#ifndef LINUX_DELAY_H
#define LINUX_DELAY_H

#ifdef __cplusplus
extern "C" {
#endif

void udelay(unsigned long microseconds);
void ndelay(unsigned long nanoseconds);
void mdelay(unsigned long milliseconds);

#ifdef __cplusplus
}
#endif
#endif
