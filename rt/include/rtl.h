/* The header that nearly every RTLinux program includes first. */
#ifndef RTL_H
#define RTL_H

#include <rtl_conf.h>
#include <stddef.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/param.h>
#include <linux/jiffies.h>
#include <linux/smp.h>
#include <asm/bitops.h>
#include <asm/io.h>
#include <asm/mman.h>
#include <asm/system.h>
#include <asm/timex.h>
#include <rtl_signal.h>
#include <rtl_printf.h>
#include <rtl_core.h>
#include <rtl_sync.h>

#endif
