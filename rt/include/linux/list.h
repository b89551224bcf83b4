/* Doubly linked lists whose links lie in the elements. */
#ifndef LINUX_LIST_H
#define LINUX_LIST_H

#include <linux/kernel.h>

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)
#define INIT_LIST_HEAD(list) do { (list)->next = (list); (list)->prev = (list); } while (0)

static __inline__ void pillion_list_link(struct list_head *entry, struct list_head *before, struct list_head *after)
{
	entry->prev = before;
	entry->next = after;
	before->next = entry;
	after->prev = entry;
}

static __inline__ void list_add(struct list_head *entry, struct list_head *head)
{
	pillion_list_link(entry, head, head->next);
}

static __inline__ void list_add_tail(struct list_head *entry, struct list_head *head)
{
	pillion_list_link(entry, head->prev, head);
}

static __inline__ void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

static __inline__ void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static __inline__ int list_empty(const struct list_head *head)
{
	return head->next == head;
}

#define list_entry(pointer, type, member) container_of(pointer, type, member)
#define list_for_each(position, head) for ((position) = (head)->next; (position) != (head); (position) = (position)->next)
#define list_for_each_prev(position, head) for ((position) = (head)->prev; (position) != (head); (position) = (position)->prev)
#define list_for_each_safe(position, following, head)                                                                    \
	for ((position) = (head)->next, (following) = (position)->next; (position) != (head);                            \
	     (position) = (following), (following) = (position)->next)
#define list_for_each_entry(position, head, member)                                                                      \
	for ((position) = list_entry((head)->next, __typeof__(*(position)), member); &(position)->member != (head);      \
	     (position) = list_entry((position)->member.next, __typeof__(*(position)), member))

#endif
