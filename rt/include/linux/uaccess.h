/* As <asm/uaccess.h>. */
#ifndef LINUX_UACCESS_H
#define LINUX_UACCESS_H

#include <asm/uaccess.h>

#endif
