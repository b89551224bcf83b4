/*
 * Names that sources with Linux file operations mention. A task cannot create devices in Linux, so
 * register_chrdev is absent.
 */
#ifndef LINUX_FS_H
#define LINUX_FS_H

#include <linux/ioctl.h>
#include <linux/types.h>
#ifdef __cplusplus
extern "C" {
#endif

struct inode;
struct file;
struct vm_area_struct;
struct poll_table_struct;

struct file_operations {
	struct module *owner;
	loff_t (*llseek)(struct file *, loff_t, int);
	ssize_t (*read)(struct file *, char *, size_t, loff_t *);
	ssize_t (*write)(struct file *, const char *, size_t, loff_t *);
	unsigned int (*poll)(struct file *, struct poll_table_struct *);
	int (*ioctl)(struct inode *, struct file *, unsigned int, unsigned long);
	int (*mmap)(struct file *, struct vm_area_struct *);
	int (*open)(struct inode *, struct file *);
	int (*release)(struct inode *, struct file *);
};

#ifdef __cplusplus
}
#endif
#endif
