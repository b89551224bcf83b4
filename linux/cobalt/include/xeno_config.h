/* SPDX-License-Identifier: GPL-2.0-only */
/* What this Xenomai was configured with, for programs that ask the preprocessor. */
#ifndef _XENO_CONFIG_H
#define _XENO_CONFIG_H

#include <xenomai/version.h>

#define CONFIG_XENO_COBALT 1
#define CONFIG_XENO_VERSION_STRING XENO_VERSION_STRING
#define CONFIG_XENO_DEFAULT_PERIOD 1000000
#define CONFIG_SMP 1

#endif
