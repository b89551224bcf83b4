/* The configuration. */
#ifndef LINUX_CONFIG_H
#define LINUX_CONFIG_H

#include <rtl_conf.h>
#ifndef HZ
#define HZ 100
#endif

#endif
