/* Bits. */
#ifndef LINUX_BITOPS_H
#define LINUX_BITOPS_H

#include <asm/bitops.h>

#endif
