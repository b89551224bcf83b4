/* Reading and writing devices, and sleeping. What is not declared here does not exist. */
#ifndef PILLION_UNISTD_H
#define PILLION_UNISTD_H

#include <stddef.h>
#include <fcntl.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2

#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif

#define _POSIX_VERSION 199506L
#define _POSIX_THREADS 199506L
#define _POSIX_TIMERS 199309L
#define _SC_CLK_TCK 2
#define _SC_OPEN_MAX 4
#define _SC_PAGESIZE 30
#define _SC_PAGE_SIZE 30
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84

int close(int descriptor);
ssize_t read(int descriptor, void *to, size_t count);
ssize_t write(int descriptor, const void *from, size_t count);
off_t lseek(int descriptor, off_t offset, int whence);
int ioctl(int descriptor, int request, ...);

/* Always -1 with EINVAL, as in RTLinux. */
long sysconf(int name);

int usleep(useconds_t microseconds);
unsigned int sleep(unsigned int seconds);
int pause(void);

void _exit(int status) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
