// SPDX-License-Identifier: GPL-2.0-only
#include "name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lock.h"
#include "wait.h"

static struct link names = LINK_INIT(names);
/* Threads that wait for a name. Each looks when there is a new one. */
static struct primary_queue binders = PRIMARY_QUEUE_INIT(binders, true);

struct primary_name *primary_named(const void *kind, const char *text)
{
	for each_link(link, &names) {
		struct primary_name *name = holder_of(link, struct primary_name, link);

		if (name->kind == kind && !strcmp(name->text, text))
			return name;
	}
	return NULL;
}

int primary_name(struct primary_name *name, const void *kind, const char *text)
{
	static unsigned int anonymous;

	if (text && *text) {
		if (strlen(text) >= sizeof(name->text))
			return -ENAMETOOLONG;
		if (primary_named(kind, text))
			return -EEXIST;
		strcpy(name->text, text);
	} else {
		snprintf(name->text, sizeof(name->text), "anon@%u", ++anonymous);
	}
	name->kind = kind;
	link_before(&name->link, &names);
	primary_wake_all(&binders, 0);
	return 0;
}

void primary_unname(struct primary_name *name)
{
	link_remove(&name->link);
}

int primary_bind(const void *kind, const char *text, struct primary_end end, struct primary_name **found)
{
	struct primary_wait wait = { 0 };
	int error = 0;

	while (!(*found = primary_named(kind, text)) && !error)
		error = primary_wait(&binders, &wait, end);
	return *found ? 0 : error;
}
