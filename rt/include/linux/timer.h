/*
 * Timers of Linux's kernel. A task has none of them: timer_create and threads take their place.
 * Using one fails when the program is linked.
 */
#ifndef LINUX_TIMER_H
#define LINUX_TIMER_H

#include <linux/list.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timer_list {
	struct list_head list;
	unsigned long expires;
	unsigned long data;
	void (*function)(unsigned long);
};

void init_timer(struct timer_list *timer);
void add_timer(struct timer_list *timer);
int del_timer(struct timer_list *timer);
int mod_timer(struct timer_list *timer, unsigned long expires);

#ifdef __cplusplus
}
#endif

#endif
