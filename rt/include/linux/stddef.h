/* Sizes. */
#ifndef LINUX_STDDEF_H
#define LINUX_STDDEF_H

#include <stddef.h>

#endif
