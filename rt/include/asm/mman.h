/* Flags for mapping devices. */
#ifndef ASM_MMAN_H
#define ASM_MMAN_H

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4

#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_TYPE 0xf
#define MAP_FIXED 0x10
#define MAP_FILE 0
#define MAP_ANONYMOUS 0x20
#define MAP_ANON MAP_ANONYMOUS
#define MAP_GROWSDOWN 0x0100
#define MAP_DENYWRITE 0x0800
#define MAP_EXECUTABLE 0x1000
#define MAP_LOCKED 0x2000
#define MAP_NORESERVE 0x4000
#define MAP_FAILED ((void *)-1)

#define MCL_CURRENT 1
#define MCL_FUTURE 2

#define MS_ASYNC 1
#define MS_INVALIDATE 2
#define MS_SYNC 4

#endif
