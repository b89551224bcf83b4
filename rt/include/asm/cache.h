/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef ASM_CACHE_H
#define ASM_CACHE_H
#endif
