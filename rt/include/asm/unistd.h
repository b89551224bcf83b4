/* As <unistd.h>. */
#ifndef ASM_UNISTD_H
#define ASM_UNISTD_H

#include <unistd.h>

#endif
