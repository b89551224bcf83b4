/* Signals. */
#ifndef LINUX_SIGNAL_H
#define LINUX_SIGNAL_H

#include <rtl_signal.h>

#endif
