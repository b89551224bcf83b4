/* Semaphores. */
#ifndef PILLION_SEMAPHORE_H
#define PILLION_SEMAPHORE_H

#include <rtl_conf.h>
#include <errno.h>
#include <linux/fcntl.h>
#include <rtl_sched.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEM_VALUE_MAX 0x7fffffff
#define SEM_FAILED ((sem_t *)0)

typedef struct rtl_sem_struct {
	int value, named;
	unsigned long queue;
} sem_t;

int sem_init(sem_t *sem, int shared, unsigned int value);
int sem_destroy(sem_t *sem);
int sem_getvalue(sem_t *sem, int *value);
int sem_wait(sem_t *sem);
int sem_trywait(sem_t *sem);
int sem_timedwait(sem_t *sem, const struct timespec *time);
int sem_post(sem_t *sem);

/* Named semaphores. Tasks with `share = true` may use them together. */
sem_t *sem_open(const char *name, int flags, ...);
int sem_close(sem_t *sem);
int sem_unlink(const char *name);

#ifdef __cplusplus
}
#endif

#endif
