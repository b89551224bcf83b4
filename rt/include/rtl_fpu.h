/* Every thread has floating-point registers; this type has their size. */
#ifndef RTL_FPU_H
#define RTL_FPU_H

typedef struct {
	unsigned char registers[512];
} RTL_FPU_CONTEXT;

#endif
