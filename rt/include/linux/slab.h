/* Memory, for the Linux context. A real-time thread gets NULL unless it passes GFP_ATOMIC. */
#ifndef LINUX_SLAB_H
#define LINUX_SLAB_H

#include <stddef.h>
#include <linux/types.h>
#ifdef __cplusplus
extern "C" {
#endif

#define GFP_ATOMIC 0x20
#define GFP_KERNEL 0x1f0
#define GFP_USER 0x1f0
#define GFP_DMA 0x01
#define __GFP_WAIT 0x10

void *kmalloc(size_t size, int flags);
void *kcalloc(size_t count, size_t size, int flags);
void *kzalloc(size_t size, int flags);
void kfree(const void *memory);
void *vmalloc(unsigned long size);
void vfree(void *memory);

/* 2 to the power of `order` whole pages, aligned to a page. */
unsigned long __get_free_pages(int flags, unsigned long order);
unsigned long get_zeroed_page(int flags);
void free_pages(unsigned long address, unsigned long order);
#define __get_free_page(flags) __get_free_pages(flags, 0)
#define get_free_page(flags) get_zeroed_page(flags)
#define free_page(address) free_pages(address, 0)

#ifdef __cplusplus
}
#endif
#endif
