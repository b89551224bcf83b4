// SPDX-License-Identifier: GPL-2.0-only
#include "switch_kind.h"

#include <stdio.h>
#include <string.h>

#include "common.h"

static const char *const modes[] = { [SLEEPER] = "sleeper", [RTUP] = "rtup", [RTUS] = "rtus", [RTUO] = "rtuo" };

/* Skips a text, if it is there. */
static bool skip(const char **rest, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(*rest, text, length))
		return false;
	*rest += length;
	return true;
}

static enum switch_mode mode_of(const char *word, const char **rest)
{
	enum switch_mode mode;

	for (mode = RTUP; mode <= RTUO; mode++)
		if (skip(rest, modes[mode]))
			return mode;
	if (skip(rest, "rtk"))
		fail("%s: there are no threads of Linux's kernel in primary mode; name threads of a process: "
		     "rtup, rtus, rtuo", word);
	fail("%s: there is no such kind of thread; the kinds are rtup, rtus and rtuo", word);
}

static void add_suffix(struct switch_kind *kind, const char *word, const char **rest)
{
	if (skip(rest, "_ufpp") && kind->mode != RTUS)
		kind->holds_in_primary = true;
	else if (skip(rest, "_ufps") && kind->mode != RTUP)
		kind->holds_in_linux = true;
	else if (skip(rest, "_fp")) {
		kind->holds_in_primary = kind->mode != RTUS;
		kind->holds_in_linux = kind->mode != RTUP;
	} else
		fail("%s: %s takes no such suffix; rtup takes _ufpp, rtus takes _ufps, rtuo takes both, and all take _fp",
		     word, modes[kind->mode]);
}

struct switch_kind switch_kind_of(const char *word)
{
	struct switch_kind kind = { 0 };
	const char *rest = word;

	kind.mode = mode_of(word, &rest);
	while (*rest == '_')
		add_suffix(&kind, word, &rest);
	if (*rest)
		kind.cpu = cpu_of(word, rest);
	return kind;
}

void switch_kind_name(const struct switch_kind *kind, unsigned int number, char *name, size_t size)
{
	snprintf(name, size, "%s%s%s%d-%u", modes[kind->mode], kind->holds_in_primary ? "_ufpp" : "",
		 kind->holds_in_linux ? "_ufps" : "", kind->cpu, number);
}
