/* Calls. */
#ifndef LINUX_UNISTD_H
#define LINUX_UNISTD_H

#include <unistd.h>

#endif
