/* As <rtl_conf.h>. */
#ifndef LINUX_AUTOCONF_H
#define LINUX_AUTOCONF_H

#include <rtl_conf.h>

#endif
