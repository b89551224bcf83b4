/* SPDX-License-Identifier: GPL-2.0-only */
/* What tasks print. */
#ifndef LOG_H
#define LOG_H

void log_open(void);
void log_ring(void);
void log_settle(void);
void log_close(void);

#endif
