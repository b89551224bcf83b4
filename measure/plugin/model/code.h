/*
 * Physical addresses of code. The emulator only tells where an instruction lies in its own memory,
 * so the physical address of one instruction must be known: that of the first one executed in the
 * part of the address space where a kernel's image is mapped, which is its virtual address minus
 * the mapping's start.
 */
#ifndef MODEL_CODE_H
#define MODEL_CODE_H

#include <stdint.h>

uint64_t code_physical(uint64_t address, const void *in_emulator);

#endif
