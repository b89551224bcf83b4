/* What a C++ module begins with: its entry points with C linkage, and <linux/slab.h>. */
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
