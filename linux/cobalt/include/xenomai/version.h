/* SPDX-License-Identifier: GPL-2.0-only */
/* The version of Xenomai whose interface this is. */
#ifndef _XENOMAI_VERSION_H
#define _XENOMAI_VERSION_H

#define CONFIG_XENO_VERSION_MAJOR 3
#define CONFIG_XENO_VERSION_MINOR 2
#define CONFIG_XENO_REVISION_LEVEL 4
#define CONFIG_XENO_VERSION_NAME "Pillion"
#define CONFIG_XENO_UAPI_LEVEL 18
#define XENO_VERSION(major, minor, level) (((major) << 16) + ((minor) << 8) + (level))
#define XENO_VERSION_CODE \
	XENO_VERSION(CONFIG_XENO_VERSION_MAJOR, CONFIG_XENO_VERSION_MINOR, CONFIG_XENO_REVISION_LEVEL)
#define XENO_VERSION_STRING "3.2.4"

#endif
