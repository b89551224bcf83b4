/* Port I/O, as in <asm/io.h>. */
#ifndef RTL_IO_H
#define RTL_IO_H

#include <asm/io.h>

#define rtl_inb(port) inb(port)
#define rtl_inb_p(port) inb_p(port)
#define rtl_outb(value, port) outb((value), (port))
#define rtl_outb_p(value, port) outb_p((value), (port))

#endif
