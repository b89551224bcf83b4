/* SPDX-License-Identifier: GPL-2.0-only */
/* Settings of the libraries, which a program may make before xenomai_init. */
#ifndef _XENOMAI_TUNABLES_H
#define _XENOMAI_TUNABLES_H

#include <sched.h>
#include <stddef.h>

struct xenomai_settings {
	cpu_set_t cpu_affinity;
	int verbosity_level;
	int no_mlock;
	int no_sanity;
	/* Bytes; memory is the C library's. */
	size_t mem_pool;
	const char *session_label;
	const char *registry_root;
	int no_registry;
	/* Nanoseconds of a tick of Alchemy's. */
	unsigned int alchemy_clock_resolution;
};

extern struct xenomai_settings __xenomai_settings;

#define set_config_tunable(name, value) set_##name(value)
#define get_config_tunable(name) get_##name()

static inline void set_mem_pool_size(size_t size)
{
	__xenomai_settings.mem_pool = size;
}

static inline size_t get_mem_pool_size(void)
{
	return __xenomai_settings.mem_pool;
}

static inline void set_session_label(const char *label)
{
	__xenomai_settings.session_label = label;
}

static inline const char *get_session_label(void)
{
	return __xenomai_settings.session_label;
}

static inline void set_verbosity_level(int level)
{
	__xenomai_settings.verbosity_level = level;
}

static inline int get_verbosity_level(void)
{
	return __xenomai_settings.verbosity_level;
}

static inline void set_cpu_affinity(cpu_set_t cpus)
{
	__xenomai_settings.cpu_affinity = cpus;
}

static inline void set_no_mlock(int is_not_locked)
{
	__xenomai_settings.no_mlock = is_not_locked;
}

static inline void set_no_sanity(int is_not_checked)
{
	__xenomai_settings.no_sanity = is_not_checked;
}

static inline void set_no_registry(int has_none)
{
	__xenomai_settings.no_registry = has_none;
}

static inline void set_alchemy_clock_resolution(unsigned int ns)
{
	__xenomai_settings.alchemy_clock_resolution = ns;
}

static inline unsigned int get_alchemy_clock_resolution(void)
{
	return __xenomai_settings.alchemy_clock_resolution;
}

#endif
