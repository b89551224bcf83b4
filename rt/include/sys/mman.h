/* Device mappings. Memory is always locked, so locking succeeds and does nothing. */
#ifndef PILLION_SYS_MMAN_H
#define PILLION_SYS_MMAN_H

#include <stddef.h>
#include <sys/types.h>
#include <asm/mman.h>

#ifdef __cplusplus
extern "C" {
#endif

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset);
int munmap(void *address, size_t length);
int mlock(const void *address, size_t length);
int munlock(const void *address, size_t length);
int mlockall(int flags);
int munlockall(void);
int mprotect(void *address, size_t length, int protection);
int msync(void *address, size_t length, int flags);

#ifdef __cplusplus
}
#endif

#endif
