/* Port claims. A claim succeeds if the system file gives the ports to the task. */
#ifndef LINUX_IOPORT_H
#define LINUX_IOPORT_H

#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

struct resource {
	const char *name;
	unsigned long start, end;
	unsigned long flags;
};

struct resource *request_region(unsigned long start, unsigned long count, const char *name);
void release_region(unsigned long start, unsigned long count);
/* 0, or -EBUSY. */
int check_region(unsigned long start, unsigned long count);

/* Tasks have no device memory: claims of it fail. */
struct resource *request_mem_region(unsigned long start, unsigned long count, const char *name);
void release_mem_region(unsigned long start, unsigned long count);

#ifdef __cplusplus
}
#endif
#endif
