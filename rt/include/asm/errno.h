/* Numbers of errors. */
#ifndef ASM_ERRNO_H
#define ASM_ERRNO_H

#include <errno.h>

#endif
