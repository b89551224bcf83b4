/* Mappings. */
#ifndef LINUX_MMAN_H
#define LINUX_MMAN_H

#include <asm/mman.h>

#endif
