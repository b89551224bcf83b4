/* Memory. */
#ifndef LINUX_MALLOC_H
#define LINUX_MALLOC_H

#include <linux/slab.h>

#endif
