/* SPDX-License-Identifier: GPL-2.0-only */
/* Ports: a program asks for them by ioperm() or iopl(). */
#include <sys/io.h>
