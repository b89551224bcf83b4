/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef ASM_I387_H
#define ASM_I387_H
#endif
