/*
 * Port I/O and device memory. A port that the system file does not give to the task reads as all
 * ones, and writes to it are dropped.
 */
#ifndef ASM_IO_H
#define ASM_IO_H

#include <stddef.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

unsigned char inb(unsigned short port);
unsigned short inw(unsigned short port);
unsigned int inl(unsigned short port);
void outb(unsigned char value, unsigned short port);
void outw(unsigned short value, unsigned short port);
void outl(unsigned int value, unsigned short port);

/* The same, with the pause that old devices need. */
unsigned char inb_p(unsigned short port);
unsigned short inw_p(unsigned short port);
unsigned int inl_p(unsigned short port);
void outb_p(unsigned char value, unsigned short port);
void outw_p(unsigned short value, unsigned short port);
void outl_p(unsigned int value, unsigned short port);

void insb(unsigned short port, void *to, unsigned long count);
void insw(unsigned short port, void *to, unsigned long count);
void insl(unsigned short port, void *to, unsigned long count);
void outsb(unsigned short port, const void *from, unsigned long count);
void outsw(unsigned short port, const void *from, unsigned long count);
void outsl(unsigned short port, const void *from, unsigned long count);

/* Always NULL: tasks have no device memory. */
void *ioremap(unsigned long physical, unsigned long size);
void *ioremap_nocache(unsigned long physical, unsigned long size);
void iounmap(void *address);

#define readb(address) (*(volatile u8 *)(address))
#define readw(address) (*(volatile u16 *)(address))
#define readl(address) (*(volatile u32 *)(address))
#define writeb(value, address) ((void)(*(volatile u8 *)(address) = (value)))
#define writew(value, address) ((void)(*(volatile u16 *)(address) = (value)))
#define writel(value, address) ((void)(*(volatile u32 *)(address) = (value)))
#define memcpy_fromio(to, from, size) memcpy((to), (const void *)(from), (size))
#define memcpy_toio(to, from, size) memcpy((void *)(to), (from), (size))
#define memset_io(to, byte, size) memset((void *)(to), (byte), (size))

#ifdef __cplusplus
}
#endif

#endif
