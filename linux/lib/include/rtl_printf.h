/* SPDX-License-Identifier: GPL-2.0-only */
/* For modules. A process has nothing of it. */
