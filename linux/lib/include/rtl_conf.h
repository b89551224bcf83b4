/* SPDX-License-Identifier: GPL-2.0-only */
/* Included by many programs; RTLinux had its configuration in it, of which there is none for Linux. */
