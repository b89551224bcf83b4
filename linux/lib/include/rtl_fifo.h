/* SPDX-License-Identifier: GPL-2.0-only */
/* FIFOs as RTLinux's programs in Linux know them: the files /dev/rtf0 to /dev/rtf63. */
#ifndef RTL_FIFO_H
#define RTL_FIFO_H

#include <pillion_channel.h>

#define RTF_MAJOR 150
#define RTF_NO PILLION_CHANNEL_FIFOS

#endif
