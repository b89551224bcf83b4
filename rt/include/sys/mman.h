/* Mappings of devices. Memory is always locked, so that locking succeeds and does nothing. */
#ifndef PILLION_SYS_MMAN_H
#define PILLION_SYS_MMAN_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4

#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 0x10
#define MAP_FAILED ((void *)-1)

#define MCL_CURRENT 1
#define MCL_FUTURE 2

#define MS_ASYNC 1
#define MS_INVALIDATE 2
#define MS_SYNC 4

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
