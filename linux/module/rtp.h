/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RTP_H
#define RTP_H

int rtp_open(void);
void rtp_close(void);

#endif
