/* As <unistd.h>. */
#ifndef RTL_UNISTD_H
#define RTL_UNISTD_H

#include <unistd.h>

#endif
