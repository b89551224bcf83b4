/* Nothing of it is for tasks and processes; sources that only include it compile. */
#ifndef ASM_DMA_H
#define ASM_DMA_H
#endif
