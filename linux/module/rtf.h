/* SPDX-License-Identifier: GPL-2.0-only */
/* The devices /dev/rtf0 to /dev/rtf63. */
#ifndef RTF_H
#define RTF_H

#include "window.h"

struct file;

int rtf_open(void);
void rtf_close(void);
int rtf_unload(struct task *task);
bool rtf_is_shown(const struct file *file);
void rtf_state(struct pillion_dual_descriptors *told);

#endif
