/* As <rtl_fifo.h>. */
#ifndef LINUX_RTF_H
#define LINUX_RTF_H

#include <rtl_fifo.h>

#endif
