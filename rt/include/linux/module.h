/* What makes a source a module: entry points, parameters, descriptions. */
#ifndef LINUX_MODULE_H
#define LINUX_MODULE_H

#include <stddef.h>
#include <errno.h>
#include <linux/init.h>
#include <linux/version.h>
#include <linux/types.h>
#include <linux/slab.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <asm/atomic.h>
#ifdef __cplusplus
extern "C" {
#endif

struct module {
	const char *name;
};

/* The task itself. */
extern struct module __this_module;
#define THIS_MODULE (&__this_module)

/*
 * A parameter, set by `name=value` when the task is loaded. The type is as in Linux 2.4: b, h, i, l
 * for one, two, four and eight bytes, s for text; numbers before it limit how many values an array
 * takes ("1-4i"). If the variable is declared further below, `x build-task` has these macros mark
 * their definitions, and moves those to the end of the source.
 */
struct pillion_parameter {
	const char *name;
	const char *type;
	void *variable;
	unsigned long size;
};

#define PILLION_PARAMETER_RECORD(variable, type)                                                                                          \
	static const struct pillion_parameter pillion_parameter_##variable                                                               \
		__attribute__((used, section(".pillion.params"), aligned(8))) = { #variable, type, (void *)&variable, sizeof(variable) }

#ifdef PILLION_MARK_PARAMETERS
#define PILLION_PARAMETER(variable, type) pillion_parameter_begin PILLION_PARAMETER_RECORD(variable, type); pillion_parameter_end
#else
#define PILLION_PARAMETER(variable, type) PILLION_PARAMETER_RECORD(variable, type)
#endif

#define MODULE_PARM(variable, type) PILLION_PARAMETER(variable, type)
#define MODULE_PARM_DESC(variable, text) struct pillion_described_##variable

/* The later form, with the type spelled out. */
#define module_param(variable, type, mode) PILLION_PARAMETER(variable, "=" #type)

#define MODULE_AUTHOR(text) struct pillion_author
#define MODULE_DESCRIPTION(text) struct pillion_description
#define MODULE_SUPPORTED_DEVICE(text) struct pillion_device
#define MODULE_LICENSE(text) struct pillion_license
#define MODULE_DEVICE_TABLE(type, name) struct pillion_device_table
#define MODULE_VERSION(text) struct pillion_version

/* All global names of a task's sources are linked together; other tasks do not see them. */
#define EXPORT_SYMBOL(name) struct pillion_exported
#define EXPORT_SYMBOL_GPL(name) struct pillion_exported
#define EXPORT_SYMBOL_NOVERS(name) struct pillion_exported
#define EXPORT_NO_SYMBOLS struct pillion_exported

#define SET_MODULE_OWNER(object) do { } while (0)
#define MOD_INC_USE_COUNT do { } while (0)
#define MOD_DEC_USE_COUNT do { } while (0)
#define MOD_IN_USE 0

#ifdef __cplusplus
int init_module(void);
void cleanup_module(void);
#endif

#ifdef __cplusplus
}
#endif
#endif
