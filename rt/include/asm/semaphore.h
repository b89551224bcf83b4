/* Linux semaphores: POSIX semaphores under older names. */
#ifndef ASM_SEMAPHORE_H
#define ASM_SEMAPHORE_H

#include <semaphore.h>

struct semaphore {
	sem_t posix;
};

#define __SEMAPHORE_INITIALIZER(name, count) { { count, 0, 0 } }
#define DECLARE_MUTEX(name) struct semaphore name = __SEMAPHORE_INITIALIZER(name, 1)
#define DECLARE_MUTEX_LOCKED(name) struct semaphore name = __SEMAPHORE_INITIALIZER(name, 0)

#define sema_init(semaphore, count) ((void)sem_init(&(semaphore)->posix, 0, count))
#define init_MUTEX(semaphore) sema_init(semaphore, 1)
#define init_MUTEX_LOCKED(semaphore) sema_init(semaphore, 0)
#define down(semaphore) ((void)sem_wait(&(semaphore)->posix))
/* 0, or -EINTR. */
#define down_interruptible(semaphore) (sem_wait(&(semaphore)->posix) ? -EINTR : 0)
/* 0 if it took the semaphore. */
#define down_trylock(semaphore) (sem_trywait(&(semaphore)->posix) != 0)
#define up(semaphore) ((void)sem_post(&(semaphore)->posix))

#endif
