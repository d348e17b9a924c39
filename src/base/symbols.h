/*
 * symbols.h: the names of functions that the dynamic linker does not know: static ones and those that a library keeps
 * to itself. They stand in the symbol table of the file that the code came from, or, when that was stripped, in
 * the file of its build id below /usr/lib/debug.
 *
 * event/encode.c asks while it records stacks, so a name is looked up in the process that runs the code: a
 * file that was replaced since has another build id and names nothing.
 */
#ifndef TT_BASE_SYMBOLS_H
#define TT_BASE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The function of this process that an address lies in; *offset is how far. NULL when nobody knows. The text stays for the life
 * of the process. Any thread.
 */
const char *tt_symbol_at(uint64_t *offset, uint64_t address);

/* ---- files, for tests --------------------------------------------------------------------------- */

#define TT_BUILD_ID_MAX 64

/* A file that was loaded: what the dynamic linker knows of the code at an address. */
struct tt_symbol_place {
	uint64_t bias;           /* address in memory - address in the file */
	const char *path;        /* "" for the program */
	const unsigned char *id; /* its build id; NULL: it has none */
	size_t id_length;
};

/* tt_symbol_at() of an address that lies in there. */
const char *tt_symbol_in(uint64_t *offset, const struct tt_symbol_place *place, uint64_t address);

/*
 * The function at a virtual address of a 64-bit ELF file in memory; *start is where it begins. NULL when it has no
 * symbol table, none there, or is damaged. The text lies in the file.
 */
const char *tt_elf_function(uint64_t *start, const void *file, size_t size, uint64_t address);

/* Its build id, in the file; NULL and 0 when it has none. */
const unsigned char *tt_elf_build_id(size_t *length, const void *file, size_t size);

#endif
