/* Classes of characters. */
#ifndef LINUX_CTYPE_H
#define LINUX_CTYPE_H

#include <ctype.h>

#endif
