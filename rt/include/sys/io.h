/* Ports. */
#ifndef PILLION_SYS_IO_H
#define PILLION_SYS_IO_H

#include <asm/io.h>

#endif
