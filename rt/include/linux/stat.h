/* Files. */
#ifndef LINUX_STAT_H
#define LINUX_STAT_H

#include <sys/stat.h>

#endif
