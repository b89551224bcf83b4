/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects of primary mode that the processes of a skin share by names: FOLDER/NAME there. */
#ifndef PRIMARY_SHARED_H
#define PRIMARY_SHARED_H

#include <pillion_dual.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Says which object is meant: a kind, PILLION_DUAL_OBJECT_..., and flags of that. Returns 0 or
 * -ENAMETOOLONG.
 */
int primary_shared_state(struct pillion_dual_open *open, uint32_t kind, uint32_t flags, const char *folder,
			 size_t folder_length, const char *name);
/* Makes an object that is not there yet; opens one. They return a handle, or an error. */
long primary_shared_make(struct pillion_dual_open *open, uint64_t value);
long primary_shared_open(const struct pillion_dual_open *open);
void primary_shared_close(uint32_t handle);

#endif
