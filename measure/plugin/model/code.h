/*
 * Physical addresses of code. The emulator says where an instruction lies in its own memory only,
 * so one instruction has to be known: the first that is executed in the part of the address space
 * where a kernel's image is mapped, by 2 GiB less.
 */
#ifndef MODEL_CODE_H
#define MODEL_CODE_H

#include <stdint.h>

uint64_t code_physical(uint64_t address, const void *in_emulator);

#endif
