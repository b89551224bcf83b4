/*
 * In the style of the time: a periodic producer and a consumer with a buffer, semaphores, a mutex
 * and a condition variable, and names of the C library for their own.
 *
 * prints: took 20, sum 190, link 1, by 1 ms
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <pillion.h>
#define N 8
static pthread_t prod, cons;
static sem_t free_slots, used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int buffer[N], in, out, remove, link;
static long long time, sum;

static void clock_gettime(int *where) { *where = 1; }

void *producer(void *arg)
{
	int i = 0;
	pthread_make_periodic_np(pthread_self(), gethrtime(), 500000LL);
	while (1) {
		pthread_wait_np();
		sem_wait(&free_slots);
		pthread_mutex_lock(&lock);
		buffer[in] = i++;
		in = (in + 1) % N;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&lock);
		sem_post(&used);
	}
}
void *consumer(void *arg)
{
	int x; clock_gettime(&x);
	for (;;) {
		if (sem_wait(&used) < 0 && errno == EINTR) continue;
		sum += buffer[out]; out = (out + 1) % N; remove++; link = x;
		time = gethrtime();
		sem_post(&free_slots);
		if (remove == 20)
			pillion_unload();
		pthread_testcancel();
		usleep(100);
	}
	return NULL;
}
int init_module(void)
{
	sem_init(&free_slots, 1, N);
	sem_init(&used, 1, 0);
	if (pthread_create(&prod, NULL, producer, 0) || pthread_create(&cons, NULL, consumer, 0))
		return -ENOMEM;
	return 0;
}
void cleanup_module(void)
{
	pthread_delete_np(prod);
	pthread_delete_np(cons);
	sem_destroy(&free_slots);
	printk(KERN_INFO "took %d, sum %ld, link %d, by %d ms\n", remove, (long)sum, link, (int)(time / 1000000 < 1000000));
}
