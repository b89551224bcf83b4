/* As <semaphore.h>. */
#ifndef RTL_SEMA_H
#define RTL_SEMA_H

#include <semaphore.h>

#endif
