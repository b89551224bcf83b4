/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef ASM_FIXMAP_H
#define ASM_FIXMAP_H
#endif
