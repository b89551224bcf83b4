/* As <linux/wait.h>. */
#ifndef LINUX_COMPLETION_H
#define LINUX_COMPLETION_H

#include <linux/wait.h>

#endif
