/*
 * Access to the data of a Linux process's I/O control. The handler gets the data's address as its
 * argument; any other address is refused.
 */
#ifndef ASM_UACCESS_H
#define ASM_UACCESS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VERIFY_READ 0
#define VERIFY_WRITE 1

/* Return the number of bytes that could not be copied. */
unsigned long copy_from_user(void *to, const void *from, unsigned long size);
unsigned long copy_to_user(void *to, const void *from, unsigned long size);
/* 1 if the data can be accessed. */
int access_ok(int type, const void *address, unsigned long size);

#define verify_area(type, address, size) (access_ok((type), (address), (size)) ? 0 : -14)
#define get_user(value, from)                                                                                 \
	({ __typeof__(*(from)) got_; int error_ = copy_from_user(&got_, (from), sizeof(got_)) ? -14 : 0;      \
	   if (error_ == 0) (value) = got_; error_; })
#define put_user(value, to)                                                                                   \
	({ __typeof__(*(to)) put_ = (value); copy_to_user((to), &put_, sizeof(put_)) ? -14 : 0; })
#define __get_user get_user
#define __put_user put_user
#define __copy_from_user copy_from_user
#define __copy_to_user copy_to_user
#define memcpy_fromfs copy_from_user
#define memcpy_tofs copy_to_user

#ifdef __cplusplus
}
#endif

#endif
