// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of functions in ELF files. Files are not trusted: everything is looked for within a copy,
 * and only so far.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols.h"

/* The largest file that is read, in bytes, and how many of its symbols are looked at. */
#define LARGEST (256 << 20)
#define SYMBOLS (4 << 20)

struct image {
	const uint8_t *bytes;
	uint64_t size;
	/* Symbols that may yet be looked at. */
	uint64_t symbols;
};

/* Part of a file, or NULL. */
static const void *part(const struct image *image, uint64_t at, uint64_t size)
{
	if (at > image->size || size > image->size - at || at % 8)
		return NULL;
	return image->bytes + at;
}

/* The address that an offset in the file is loaded at, before the file is moved. */
static bool address_of(const struct image *image, const Elf64_Ehdr *head, uint64_t offset, uint64_t *address)
{
	const Elf64_Phdr *headers = part(image, head->e_phoff, (uint64_t)head->e_phnum * sizeof(*headers));
	unsigned int i;

	for (i = 0; headers && i < head->e_phnum; i++)
		if (headers[i].p_type == PT_LOAD && offset >= headers[i].p_offset &&
		    offset - headers[i].p_offset < headers[i].p_filesz) {
			*address = offset - headers[i].p_offset + headers[i].p_vaddr;
			return true;
		}
	return false;
}

/* Looks for the function that an address is in, in one table of symbols. */
static bool look(struct image *image, const Elf64_Shdr *table, const Elf64_Shdr *strings, uint64_t address,
		 char *name, size_t room, uint64_t *inside)
{
	const Elf64_Sym *symbols = part(image, table->sh_offset, table->sh_size);
	uint64_t i, left;

	for (i = 0; symbols && i < table->sh_size / sizeof(*symbols) && image->symbols; i++, image->symbols--) {
		const Elf64_Sym *symbol = &symbols[i];

		if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || address < symbol->st_value ||
		    address - symbol->st_value >= symbol->st_size || symbol->st_name >= strings->sh_size)
			continue;
		if (strings->sh_offset > image->size || strings->sh_size > image->size - strings->sh_offset)
			return false;
		left = strings->sh_size - symbol->st_name;
		snprintf(name, room, "%.*s", left < room ? (int)left : (int)room,
			 (const char *)image->bytes + strings->sh_offset + symbol->st_name);
		*inside = address - symbol->st_value;
		return true;
	}
	return false;
}

static bool find(struct image *image, uint64_t offset, char *name, size_t room, uint64_t *inside)
{
	const Elf64_Ehdr *head = part(image, 0, sizeof(*head));
	const Elf64_Shdr *sections;
	uint64_t address;
	unsigned int i;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    !address_of(image, head, offset, &address))
		return false;
	sections = part(image, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*sections));
	for (i = 0; sections && i < head->e_shnum; i++)
		if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
		    sections[i].sh_link < head->e_shnum &&
		    look(image, &sections[i], &sections[sections[i].sh_link], address, name, room, inside))
			return true;
	return false;
}

/* Reads a file, which others may cut short meanwhile. The caller frees the bytes. */
static bool read_whole(const char *path, struct image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t *bytes = NULL;
	struct stat stat;
	ssize_t got = 1;
	size_t size = 0;

	if (fd < 0)
		return false;
	if (!fstat(fd, &stat) && S_ISREG(stat.st_mode) && stat.st_size <= LARGEST)
		bytes = malloc(stat.st_size + 1);
	for (; bytes && got > 0 && size < (size_t)stat.st_size; size += got > 0 ? got : 0)
		got = read(fd, bytes + size, stat.st_size - size);
	close(fd);
	*image = (struct image){ bytes, size, SYMBOLS };
	return bytes;
}

bool symbol_find(const char *path, uint64_t offset, char *name, size_t room, uint64_t *inside)
{
	struct image image;
	bool found;

	if (!read_whole(path, &image))
		return false;
	found = find(&image, offset, name, room, inside);
	free((void *)image.bytes);
	return found;
}
