/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads that were in primary mode. */
#ifndef DUAL_H
#define DUAL_H

#include <pillion_dual.h>
#include <stdbool.h>
#include <stdio.h>

/* Reads a thread, by its index; false if there are no more. */
bool dual_look(int device, unsigned int index, struct pillion_dual_thread *thread);

void dual_heading(FILE *out);
void dual_text(FILE *out, const struct pillion_dual_thread *thread);
/* Says what to do about a thread that was late. */
void dual_advice(FILE *out, const struct pillion_dual_thread *thread);
/* Reads a place where a thread left primary mode, likewise. */
bool dual_look_place(int device, unsigned int index, struct pillion_dual_place *place);
void dual_place_text(FILE *out, const struct pillion_dual_place *place);
/* Says what kept the threads of a program from primary mode. Returns whether anything did. */
bool dual_obstacles(FILE *out, int device, const char *program);
void dual_json(const struct pillion_dual_thread *thread);

#endif
