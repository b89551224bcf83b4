/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists whose links lie in their members. A link that is in no list points to itself. */
#ifndef PRIMARY_LIST_H
#define PRIMARY_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct link {
	struct link *next;
	struct link *previous;
};

#define LINK_INIT(link) { &(link), &(link) }

#define holder_of(link, type, member) ((type *)((char *)(link) - offsetof(type, member)))

#define each_link(link, list) (struct link *link = (list)->next; link != (list); link = link->next)

static inline void link_init(struct link *link)
{
	link->next = link->previous = link;
}

static inline bool link_alone(const struct link *link)
{
	return link->next == link;
}

/* Puts a link before another; before the list itself: at its end. */
static inline void link_before(struct link *link, struct link *other)
{
	link->previous = other->previous;
	link->next = other;
	other->previous->next = link;
	other->previous = link;
}

static inline void link_remove(struct link *link)
{
	link->previous->next = link->next;
	link->next->previous = link->previous;
	link_init(link);
}

#endif
