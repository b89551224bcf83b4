/* As <asm/page.h>. */
#ifndef ASM_PGTABLE_H
#define ASM_PGTABLE_H

#include <asm/page.h>

#endif
