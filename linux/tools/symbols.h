/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of functions in programs and libraries. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The function at an offset in a file, and how far the offset is in it; false if the file does not
 * name one. Reads the ELF file's symbols, of which a stripped one has those that it exports.
 */
bool symbol_find(const char *path, uint64_t offset, char *name, size_t room, uint64_t *inside);

#endif
