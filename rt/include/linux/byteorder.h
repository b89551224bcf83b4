/* Byte order: little-endian. */
#ifndef LINUX_BYTEORDER_H
#define LINUX_BYTEORDER_H

#include <linux/types.h>

#define cpu_to_le16(value) ((u16)(value))
#define cpu_to_le32(value) ((u32)(value))
#define cpu_to_le64(value) ((u64)(value))
#define le16_to_cpu(value) ((u16)(value))
#define le32_to_cpu(value) ((u32)(value))
#define le64_to_cpu(value) ((u64)(value))
#define cpu_to_be16(value) __builtin_bswap16(value)
#define cpu_to_be32(value) __builtin_bswap32(value)
#define cpu_to_be64(value) __builtin_bswap64(value)
#define be16_to_cpu(value) __builtin_bswap16(value)
#define be32_to_cpu(value) __builtin_bswap32(value)
#define be64_to_cpu(value) __builtin_bswap64(value)

#ifndef htons
#define htons(value) __builtin_bswap16(value)
#define htonl(value) __builtin_bswap32(value)
#define ntohs(value) __builtin_bswap16(value)
#define ntohl(value) __builtin_bswap32(value)
#endif

#endif
