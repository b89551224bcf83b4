/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings of the libraries, which a program may make before xenomai_init: set_config_tunable(name,
 * value). Those that are called runtime tunables may be changed later as well.
 */
#ifndef _XENOMAI_TUNABLES_H
#define _XENOMAI_TUNABLES_H

#include <sched.h>
#include <stddef.h>

struct xenomai_settings {
	cpu_set_t cpu_affinity;
	int verbosity_level;
	int trace_level;
	int no_mlock;
	int no_sanity;
	/* That of the main thread; negative: as it is. */
	int main_prio;
	/* Bytes, and milliseconds; output has one ring, of its own size. */
	size_t print_buffer_size;
	int print_buffer_count;
	int print_buffer_syncdelay;
	/* Bytes; memory is the C library's. */
	size_t mem_pool_size;
	const char *session_label;
	const char *registry_root;
	int no_registry;
	int shared_registry;
	/* Nanoseconds of a tick of Alchemy's. */
	unsigned int alchemy_clock_resolution;
};

#ifdef __cplusplus
extern "C" {
#endif

extern struct xenomai_settings __xenomai_settings;

#ifdef __cplusplus
}
#endif

#define set_config_tunable(name, value) set_##name(value)
#define get_config_tunable(name) get_##name()
#define set_runtime_tunable(name, value) set_##name(value)
#define get_runtime_tunable(name) get_##name()

#define __XENOMAI_TUNABLE(type, name)                    \
	static inline void set_##name(type value)        \
	{                                                \
		__xenomai_settings.name = value;         \
	}                                                \
	static inline type get_##name(void)              \
	{                                                \
		return __xenomai_settings.name;          \
	}

__XENOMAI_TUNABLE(cpu_set_t, cpu_affinity)
__XENOMAI_TUNABLE(int, verbosity_level)
__XENOMAI_TUNABLE(int, trace_level)
__XENOMAI_TUNABLE(int, no_mlock)
__XENOMAI_TUNABLE(int, no_sanity)
__XENOMAI_TUNABLE(int, main_prio)
__XENOMAI_TUNABLE(size_t, print_buffer_size)
__XENOMAI_TUNABLE(int, print_buffer_count)
__XENOMAI_TUNABLE(int, print_buffer_syncdelay)
__XENOMAI_TUNABLE(size_t, mem_pool_size)
__XENOMAI_TUNABLE(const char *, session_label)
__XENOMAI_TUNABLE(const char *, registry_root)
__XENOMAI_TUNABLE(int, no_registry)
__XENOMAI_TUNABLE(int, shared_registry)
__XENOMAI_TUNABLE(unsigned int, alchemy_clock_resolution)

#undef __XENOMAI_TUNABLE

#endif
