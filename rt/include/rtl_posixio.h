/* Devices that real-time code reaches by open, read, write, ioctl and mmap. */
#ifndef RTL_POSIXIO_H
#define RTL_POSIXIO_H

#include <rtl_conf.h>
#include <sys/types.h>
#include <linux/fcntl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_MAX_FILES 128
#define MAX_CHRDEV 32

#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif

struct rtl_file;

/*
 * Calls that a device implements. Each returns a negative errno on failure. A call left NULL fails
 * with EINVAL, except open and release, which then succeed.
 */
struct rtl_file_operations {
	off_t (*llseek)(struct rtl_file *, off_t, int);
	ssize_t (*read)(struct rtl_file *, char *, size_t, off_t *);
	ssize_t (*write)(struct rtl_file *, const char *, size_t, off_t *);
	int (*ioctl)(struct rtl_file *, unsigned int, unsigned long);
	int (*mmap)(struct rtl_file *, void *, size_t, int, int, off_t, char **);
	int (*munmap)(struct rtl_file *, void *, size_t);
	int (*open)(struct rtl_file *);
	int (*release)(struct rtl_file *);
};

struct rtl_file {
	struct rtl_file_operations *f_op;
	unsigned long f_flags;
	unsigned int f_minor;
	off_t f_pos;
	void *f_priv;
};

#define RTL_MINOR_FROM_FILEPTR(file) ((file)->f_minor)

int rtl_register_rtldev(unsigned int major, const char *name, struct rtl_file_operations *operations);
int rtl_unregister_rtldev(unsigned int major, const char *name);

#define rtl_register_chrdev rtl_register_rtldev
#define rtl_unregister_chrdev rtl_unregister_rtldev

#ifdef __cplusplus
}
#endif
#endif
