/* Every thread has registers for floating point; this is how much they take. */
#ifndef RTL_FPU_H
#define RTL_FPU_H

typedef struct {
	unsigned char registers[512];
} RTL_FPU_CONTEXT;

#endif
