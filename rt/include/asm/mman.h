/* As <sys/mman.h>. */
#ifndef ASM_MMAN_H
#define ASM_MMAN_H

#include <sys/mman.h>

#endif
