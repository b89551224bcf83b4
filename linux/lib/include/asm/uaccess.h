/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux 2.4 gave its kernel's headers to processes, and programs include this one. It has nothing for them. */
