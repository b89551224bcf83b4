/* As <linux/version.h>. */
#ifndef LINUX_MODVERSIONS_H
#define LINUX_MODVERSIONS_H

#include <linux/version.h>

#endif
