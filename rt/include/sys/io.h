/* Port I/O. */
#ifndef PILLION_SYS_IO_H
#define PILLION_SYS_IO_H

#include <asm/io.h>

#ifdef __cplusplus
extern "C" {
#endif

int ioperm(unsigned long from, unsigned long count, int on);
int iopl(int level);

#ifdef __cplusplus
}
#endif

#endif
