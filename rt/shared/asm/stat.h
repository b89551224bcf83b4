/* As <sys/stat.h>. */
#ifndef ASM_STAT_H
#define ASM_STAT_H

#include <sys/stat.h>

#endif
