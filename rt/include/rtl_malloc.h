/* OCERA's memory for real-time threads. Every context may use it. */
#ifndef RTL_MALLOC_H
#define RTL_MALLOC_H

#include <linux/slab.h>

#define rtl_malloc(size) kmalloc((size), GFP_ATOMIC)
#define rtl_calloc(count, size) kcalloc((count), (size), GFP_ATOMIC)
#define rtl_free(memory) kfree(memory)

#endif
