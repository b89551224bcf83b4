/* Memory, for the Linux context only: a real-time thread gets NULL and ENOMEM. */
#ifndef RTL_STDLIB_H
#define RTL_STDLIB_H

#include <stdlib.h>

#endif
