/* Numbers of errors. */
#ifndef LINUX_ERRNO_H
#define LINUX_ERRNO_H

#include <errno.h>

#endif
