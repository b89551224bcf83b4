/* Strings and memory. */
#ifndef LINUX_STRING_H
#define LINUX_STRING_H

#include <stddef.h>

/* The C library's header brings <strings.h> along, with names like `index` and `ffs`: the kernel's did not, and programs in C have variables of these names. */
#if defined(__cplusplus) || defined(_STRINGS_H)
#include <string.h>
#else
#define _STRINGS_H
#include <string.h>
#undef _STRINGS_H
#endif

#endif
