/* SPDX-License-Identifier: GPL-2.0-only */
/* The first interface's interrupts are for modules; a process has nothing of it. */
