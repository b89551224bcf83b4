/* As <asm/io.h>. */
#ifndef LINUX_IO_H
#define LINUX_IO_H

#include <asm/io.h>

#endif
