/* Nothing of it is for tasks; sources that only include it compile. */
#ifndef ASM_DMA_H
#define ASM_DMA_H
#endif
