/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef ASM_DESC_H
#define ASM_DESC_H
#endif
