/*
 * Linux kernel timers, declared only: a task has none, and a program that uses one does not link.
 * Use timer_create and threads instead.
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
