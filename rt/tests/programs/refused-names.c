/*
 * A task without `share = true`: FIFOs of the broker are refused, and names are private to the
 * task.
 *
 * channels: shared_fifos = [9]
 * prints: FIFO 9 is one of shared_fifos: this task needs share = true in the system file
 * prints: create -13, put -13, get -13, destroy -13
 * prints: own name 1
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <fcntl.h>
#include <semaphore.h>
#include <pillion.h>

int init_module(void)
{
	char text[4];
	int created = rtf_create(9, 100), put = rtf_put(9, "a", 1), got = rtf_get(9, text, 4);

	rtl_printf("create %d, put %d, get %d, destroy %d\n", created, put, got, rtf_destroy(9));
	rtl_printf("own name %d\n", sem_open("/own", O_CREAT, 0600, 0) != SEM_FAILED);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
