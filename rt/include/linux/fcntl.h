/* Files. */
#ifndef LINUX_FCNTL_H
#define LINUX_FCNTL_H

#include <fcntl.h>

#endif
