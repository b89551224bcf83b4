/* SPDX-License-Identifier: GPL-2.0-only */
/* The header that modules, and the programs beside them, include first. Processes get its times. */
#include <rtl_conf.h>
#include <rtl_time.h>
