/* SPDX-License-Identifier: GPL-2.0-only */
/* What modules include first, and programs beside them. Processes have its times. */
#include <rtl_conf.h>
#include <rtl_time.h>
