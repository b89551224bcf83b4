/* The kernel's names of integer types. */
#ifndef LINUX_TYPES_H
#define LINUX_TYPES_H

#include <stddef.h>
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef long long s64;
typedef unsigned long long u64;

typedef s8 __s8;
typedef u8 __u8;
typedef s16 __s16;
typedef u16 __u16;
typedef s32 __s32;
typedef u32 __u32;
typedef s64 __s64;
typedef u64 __u64;

typedef u16 __le16, __be16;
typedef u32 __le32, __be32;
typedef u64 __le64, __be64;

#ifndef loff_t
typedef off_t loff_t;
#endif
typedef unsigned short umode_t;
typedef unsigned short kdev_t;
typedef unsigned long dma_addr_t;

#ifdef __cplusplus
}
#endif
#endif
