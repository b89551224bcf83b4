/* SPDX-License-Identifier: GPL-2.0-only */
/* FIFOs, by the first interface's name. */
#include <rtl_fifo.h>
