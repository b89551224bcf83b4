/* FIFOs between real-time code and Linux processes, which open them as /dev/rtf0 to /dev/rtf63. */
#ifndef RTL_FIFO_H
#define RTL_FIFO_H

#include <rtl_conf.h>

#define RTF_NO 64
#define MAX_FIFOS RTF_NO
#define RTF_MAJOR 150
#define RTF_NAMELEN 16

/* I/O control on a descriptor from open("/dev/rtfN"): sets the FIFO's size. */
#define RTF_SETSIZE 1

#ifdef __cplusplus
extern "C" {
#endif

int rtf_create(unsigned int minor, int size);
int rtf_destroy(unsigned int minor);
int rtf_resize(unsigned int minor, int size);
int rtf_put(unsigned int minor, const void *data, int count);
int rtf_get(unsigned int minor, void *data, int count);
int rtf_flush(unsigned int minor);
int rtf_isempty(unsigned int minor);
int rtf_isused(unsigned int minor);
int rtf_create_handler(unsigned int minor, int (*handler)(unsigned int minor));
int rtf_create_rt_handler(unsigned int minor, int (*handler)(unsigned int minor));
int rtf_link_user_ioctl(unsigned int minor, int (*handler)(unsigned int minor, unsigned int command, unsigned long argument));
int rtf_make_user_pair(unsigned int get, unsigned int put);

/* Bytes that a FIFO holds, that it has room for, and its capacity; 0 if there is no such FIFO. */
int rtf_length(unsigned int minor);
int rtf_room(unsigned int minor);
int rtf_capacity(unsigned int minor);
/* Number of Linux processes that have the FIFO open. */
int rtf_opens(unsigned int minor);

#define RTF_LEN(minor) rtf_length(minor)
#define RTF_FREE(minor) rtf_room(minor)
#define RTF_BUF(minor) rtf_capacity(minor)
#define RTF_SIZE(minor) rtf_capacity(minor)
#define RTF_MAX(minor) rtf_capacity(minor)
#define RTF_EMPTY(minor) (rtf_length(minor) == 0)
#define RTF_FULL(minor) (rtf_room(minor) == 0)
#define RTF_ALLOCATED(minor) (rtf_capacity(minor) != 0)
#define RTF_USER_OPEN(minor) rtf_opens(minor)
#define RTF_OPENED(minor) rtf_opens(minor)

#ifdef __cplusplus
}
#endif
#endif
