/* Error numbers. Each thread has its own errno. */
#ifndef PILLION_ERRNO_H
#define PILLION_ERRNO_H

#include_next <errno.h>

#ifndef ENOTSUPP
#define ENOTSUPP 524
#endif
#ifndef ERESTARTSYS
#define ERESTARTSYS 512
#endif

#endif
