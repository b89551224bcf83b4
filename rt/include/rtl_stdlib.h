/* Memory, for the Linux context only: a real-time thread gets NULL and ENOMEM. */
#ifndef RTL_STDLIB_H
#define RTL_STDLIB_H

#include <linux/slab.h>

#ifdef __cplusplus
extern "C" {
#endif

void *malloc(size_t size);
void free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
