/* The tick. */
#ifndef LINUX_PARAM_H
#define LINUX_PARAM_H

#include <linux/config.h>

#endif
