/* As <pthread.h>. */
#ifndef RTL_POSIX_H
#define RTL_POSIX_H

#include <pthread.h>

#endif
