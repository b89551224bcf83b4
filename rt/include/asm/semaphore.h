/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef ASM_SEMAPHORE_H
#define ASM_SEMAPHORE_H
#endif
