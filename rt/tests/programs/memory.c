/*
 * malloc works in the Linux context; in a real-time thread it returns NULL with ENOMEM, and free
 * does nothing. Freed memory can be allocated again.
 *
 * prints: contents 0 5 9
 * prints: grown 5 9
 * prints: no 1000 contiguous bytes of memory are free: raise memory_kib of this task in the system file
 * prints: all given back 1
 * prints: too much: 1, errno 12
 * prints: kmalloc page aligned 1
 * prints: thread: malloc 1 errno 12, GFP_KERNEL 1, GFP_ATOMIC 0, with GFP_DMA 0
 */
#include <rtl.h>
#include <stdlib.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <linux/malloc.h>
#include <linux/mm.h>
#include <pillion.h>

static void *run(void *unused)
{
	void *none, *kernel, *atomic, *dma;

	errno = 0;
	none = malloc(16);
	kernel = kmalloc(16, GFP_KERNEL);
	atomic = kmalloc(16, GFP_ATOMIC);
	dma = kmalloc(16, GFP_ATOMIC | GFP_DMA);
	rtl_printf("thread: malloc %d errno %d, GFP_KERNEL %d, GFP_ATOMIC %d, with GFP_DMA %d\n",
		   none == NULL, errno, kernel == NULL, atomic == NULL, dma == NULL);
	kfree(dma);
	kfree(atomic);
	pillion_unload();
	return NULL;
}

/* Allocates blocks until there are no more, counts them, and frees them all. */
static int blocks(void)
{
	void *list = NULL, *block;
	int count = 0;

	while ((block = malloc(1000)) != NULL) {
		*(void **)block = list;
		list = block;
		count++;
	}
	while (list) {
		block = *(void **)list;
		free(list);
		list = block;
	}
	return count;
}

int init_module(void)
{
	pthread_t thread;
	unsigned long page;
	char *memory = calloc(10, 1);
	int first;

	memory[5] = 5;
	memory[9] = 9;
	rtl_printf("contents %d %d %d\n", memory[0], memory[5], memory[9]);
	memory = realloc(memory, 3000);
	rtl_printf("grown %d %d\n", memory[5], memory[9]);
	free(memory);
	first = blocks();
	rtl_printf("all given back %d\n", first > 10 && blocks() == first);
	errno = 0;
	memory = malloc(1UL << 40);
	rtl_printf("too much: %d, errno %d\n", memory == NULL, errno);
	page = __get_free_page(GFP_KERNEL);
	rtl_printf("kmalloc page aligned %d\n", page != 0 && page % PAGE_SIZE == 0);
	free_page(page);
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
}
