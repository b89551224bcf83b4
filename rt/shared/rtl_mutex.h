/* As <pthread.h>. */
#ifndef RTL_MUTEX_H
#define RTL_MUTEX_H

#include <pthread.h>

#endif
