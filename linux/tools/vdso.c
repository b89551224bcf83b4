// SPDX-License-Identifier: GPL-2.0-only
/* Where functions are in the vDSO. */
#include "vdso.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

uint64_t vdso_function(const char *name)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR), *names = NULL;
	const Elf64_Ehdr *header = (const void *)base;
	const Elf64_Sym *symbols = NULL, *symbol;
	const Elf64_Dyn *entry = NULL;
	const Elf64_Phdr *segment;
	int i;

	if (!base)
		return 0;
	/* It is linked at address 0. */
	segment = (const void *)(base + header->e_phoff);
	for (i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_DYNAMIC)
			entry = (const void *)(base + segment[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			symbols = (const void *)(base + entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			names = base + entry->d_un.d_ptr;
	}
	/* The names follow the symbols. */
	for (symbol = symbols; symbol && (const char *)(symbol + 1) <= names; symbol++)
		if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
		    !strcmp(names + symbol->st_name, name))
			return symbol->st_value;
	return 0;
}
