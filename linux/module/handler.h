/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers of FIFOs, which run in the task. */
#ifndef HANDLER_H
#define HANDLER_H

#include "fifo.h"

long handler_call(const struct fifo_view *view, u32 kind);
long handler_ioctl(const struct fifo_view *view, unsigned int command, unsigned long argument);

#endif
