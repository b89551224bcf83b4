/* As <mbuff.h>. */
#ifndef RTL_MBUFF_H
#define RTL_MBUFF_H

#include <mbuff.h>

#endif
