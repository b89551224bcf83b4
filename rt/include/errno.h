/* Numbers of errors; errno is each thread's own. */
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
