/* Named memory that tasks and Linux processes share. For the Linux context. */
#ifndef MBUFF_H
#define MBUFF_H

#include <stddef.h>

#define MBUFF_NAME_LEN 32
#define MBUFF_DEV_NAME "/dev/mbuff"

#ifdef __cplusplus
extern "C" {
#endif

void *mbuff_alloc(const char *name, size_t size);
void mbuff_free(const char *name, void *area);
void *mbuff_attach(const char *name, size_t size);
void mbuff_detach(const char *name, void *area);

#ifdef __cplusplus
}
#endif
#endif
