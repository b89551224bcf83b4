/* Parameters of modules. */
#ifndef LINUX_MODULEPARAM_H
#define LINUX_MODULEPARAM_H

#include <linux/module.h>

#endif
