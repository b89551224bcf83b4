/* SPDX-License-Identifier: GPL-2.0-only */
/* Files with a histogram, for gnuplot. */
#ifndef PLOT_H
#define PLOT_H

#include "histogram.h"
#include "rows.h"
#include "sampling.h"

/* Creates it, before the test; ends the program if that cannot be done. */
FILE *plot_open(const char *path);
/* Writes what was tested, as comments, and the histogram of all samples. */
void plot_close(FILE *file, const struct sampling *sampling, const struct rows *rows);

#endif
