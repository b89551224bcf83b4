/* Entry points under names of the program's choice. Sections that a kernel would free are kept. */
#ifndef LINUX_INIT_H
#define LINUX_INIT_H

#include <linux/linkage.h>

#define __init
#define __initdata
#define __exit
#define __exitdata
#define __devinit
#define __devinitdata
#define __devexit
#define __devexitdata

#ifdef __cplusplus
#define module_init(function) extern "C" int init_module(void) { return function(); }
#define module_exit(function) extern "C" void cleanup_module(void) { function(); }
#else
#define module_init(function) int init_module(void) { return function(); }
#define module_exit(function) void cleanup_module(void) { function(); }
#endif

#endif
