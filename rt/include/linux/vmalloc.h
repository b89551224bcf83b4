/* Memory. */
#ifndef LINUX_VMALLOC_H
#define LINUX_VMALLOC_H

#include <linux/slab.h>

#endif
