/* CPUs. */
#ifndef LINUX_SMP_H
#define LINUX_SMP_H

#include <linux/threads.h>

#endif
