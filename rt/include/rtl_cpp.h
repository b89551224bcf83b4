/*
 * What a module in C++ begins with: the names that C calls it by, and `new` from <rtl_sched.h>'s
 * memory.
 */
#ifndef RTL_CPP_H
#define RTL_CPP_H

#include <linux/slab.h>

#ifdef __cplusplus
extern "C" {
#endif

int init_module(void);
void cleanup_module(void);

#ifdef __cplusplus
}
#endif

#endif
