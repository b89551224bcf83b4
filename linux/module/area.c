// SPDX-License-Identifier: GPL-2.0-only
/*
 * Areas of shared memory that Linux holds. The resource manager makes them, and counts Linux as one
 * holder; users within Linux are counted here.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "area.h"
#include "command.h"
#include "window.h"

/* By the index from the resource manager; entries with a size are held. */
static struct area areas[PILLION_CHANNEL_MBUFFS];

/*
 * Guards everything here. Nothing is copied from or to a process while it is held: that could wait
 * for a lock which mmap takes before this one.
 */
static DEFINE_MUTEX(lock);

static struct area *held(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(areas); i++)
		if (areas[i].size && !strcmp(areas[i].name, name))
			return &areas[i];
	return NULL;
}

/* Size of the area with that name, whether Linux holds it or not; 0 if there is none. */
static u64 size_of(const char *name)
{
	const struct pillion_mbuff *entry = window.directory->mbuffs;
	unsigned int i;

	for (i = 0; i < PILLION_CHANNEL_MBUFFS; i++)
		if (entry[i].size && !strncmp(entry[i].name, name, sizeof(entry[i].name)))
			return entry[i].size;
	return 0;
}

/* Has the resource manager make an area for Linux, or hold an existing one. */
static struct area *hold(const char *name, u64 size)
{
	const struct pillion_mbuff *entry;
	struct area *area;
	int index = command(PILLION_COMMAND_MBUFF_HOLD, name, "", size);

	if (index < 0)
		return ERR_PTR(index);
	if (index >= PILLION_CHANNEL_MBUFFS)
		return ERR_PTR(-EIO);
	entry = &window.directory->mbuffs[index];
	if (entry->size < size || !PAGE_ALIGNED(entry->offset) || !PAGE_ALIGNED(entry->size) ||
	    entry->size > window.pool_size || entry->offset > window.pool_size - entry->size)
		return ERR_PTR(-EIO);
	area = &areas[index];
	strscpy(area->name, name, sizeof(area->name));
	area->offset = entry->offset;
	area->size = entry->size;
	return area;
}

/* Releases an area that has no users, files or mappings. */
static void settle(struct area *area)
{
	if (area->users || area->files || area->maps)
		return;
	command(PILLION_COMMAND_MBUFF_RELEASE, area->name, "", 0);
	memset(area, 0, sizeof(*area));
}

/* Finds or makes an area, and counts a user, and a file that is about to select it. */
struct area *area_make(const char *name, u64 size)
{
	struct area *area;
	u64 there;

	if (!*name)
		return ERR_PTR(-EINVAL);
	mutex_lock(&lock);
	there = size_of(name);
	if (!size || (there && size > there))
		area = ERR_PTR(-EIO);
	else
		area = held(name) ?: hold(name, size);
	if (!IS_ERR(area)) {
		area->users++;
		area->files++;
	}
	mutex_unlock(&lock);
	return area;
}

/* Finds an area, and counts a file that is about to select it. */
struct area *area_find(const char *name)
{
	struct area *area;
	u64 there;

	mutex_lock(&lock);
	there = size_of(name);
	area = held(name);
	if (!area)
		area = there ? hold(name, there) : ERR_PTR(-EINVAL);
	if (!IS_ERR(area))
		area->files++;
	mutex_unlock(&lock);
	return area;
}

/* Decrements a count. */
void area_put(struct area *area, unsigned int *count)
{
	mutex_lock(&lock);
	--*count;
	settle(area);
	mutex_unlock(&lock);
}

/* Counts another mapping of a held area. */
void area_map(struct area *area)
{
	mutex_lock(&lock);
	area->maps++;
	mutex_unlock(&lock);
}

/* The area that a file has selected, with another file counted; or NULL. */
struct area *area_of(struct area *const *selected)
{
	struct area *area;

	mutex_lock(&lock);
	area = *selected;
	if (area)
		area->files++;
	mutex_unlock(&lock);
	return area;
}

/* Selects an area for which the caller has counted a file; returns the former, still counted. */
struct area *area_select(struct area **selected, struct area *area)
{
	struct area *before;

	mutex_lock(&lock);
	before = *selected;
	*selected = area;
	mutex_unlock(&lock);
	return before;
}

/* Drops one user. */
int area_drop(const char *name)
{
	struct area *area;
	int result = -EINVAL;

	mutex_lock(&lock);
	area = held(name);
	if (area && area->users) {
		result = min_t(u64, area->size, INT_MAX);
		area->users--;
		settle(area);
	}
	mutex_unlock(&lock);
	return result;
}

void area_info(struct area *area, struct mbuff_request_struct *request)
{
	mutex_lock(&lock);
	request->size = area->size;
	request->reserved[0] = area->users;
	request->reserved[1] = area->maps;
	request->reserved[2] = window.directory->mbuffs[area - areas].task_count;
	mutex_unlock(&lock);
}

/* Lists all areas, including those that only tasks hold. */
int area_show(struct seq_file *out, void *unused)
{
	const struct pillion_mbuff *entry = window.directory->mbuffs;
	unsigned int i;

	seq_printf(out, "%-32s %10s %6s %6s %6s\n", "name", "size", "users", "maps", "tasks");
	mutex_lock(&lock);
	for (i = 0; i < PILLION_CHANNEL_MBUFFS; i++)
		if (entry[i].size)
			seq_printf(out, "%-32.40s %10llu %6u %6u %6u\n", entry[i].name,
				   (unsigned long long)entry[i].size, areas[i].users,
				   areas[i].maps, entry[i].task_count);
	mutex_unlock(&lock);
	return 0;
}

/* Releases what processes that are gone have left counted. */
void area_close(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(areas); i++) {
		areas[i].users = 0;
		if (areas[i].size)
			settle(&areas[i]);
	}
}
