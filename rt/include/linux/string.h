/* Strings and memory. */
#ifndef LINUX_STRING_H
#define LINUX_STRING_H

#include <stddef.h>
#include <string.h>
#include <strings.h>

#endif
