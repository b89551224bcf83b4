/* Opening devices. */
#ifndef PILLION_FCNTL_H
#define PILLION_FCNTL_H

#include <sys/types.h>
#include <linux/fcntl.h>

#ifdef __cplusplus
extern "C" {
#endif

int open(const char *path, int flags, ...);
int creat(const char *path, mode_t mode);

#ifdef __cplusplus
}
#endif

#endif
