/* As <pthread.h>. */
#ifndef RTL_BARRIER_H
#define RTL_BARRIER_H

#include <pthread.h>

#endif
