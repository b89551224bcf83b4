/* As <signal.h>. */
#ifndef RTL_SIGNAL_H
#define RTL_SIGNAL_H

#include <signal.h>

#endif
