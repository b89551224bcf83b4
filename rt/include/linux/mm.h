/* Memory and pages. */
#ifndef LINUX_MM_H
#define LINUX_MM_H

#include <linux/slab.h>
#include <asm/page.h>

#endif
