/* SPDX-License-Identifier: GPL-2.0-only */
/* Prepares a program for primary mode. */
#ifndef PREPARE_H
#define PREPARE_H

/*
 * What this process executes next has its memory locked and no vDSO when it begins. The process
 * stays what it is, and has no children by this. On failure, says so.
 */
void prepare(const char *program);

#endif
