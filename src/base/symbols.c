#include "base/symbols.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/file.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/str.h"

#define MODULES_MAX 128 /* whose files are kept open; the code of others has no names */

/* ---- files ----------------------------------------------------------------------------------------- */

/* `count` things of `each` bytes at an offset; NULL when they are not all in the file, or crooked. */
static const void *part(const void *file, size_t size, uint64_t offset, uint64_t count, size_t each)
{
	if (offset > size || offset % 8 != 0 || count > (size - offset) / each)
		return NULL;
	return (const char *)file + offset;
}

/* The table of sections; NULL when it is no such file. */
static const Elf64_Shdr *sections_of(size_t *count, const void *file, size_t size)
{
	const Elf64_Ehdr *head = part(file, size, 0, 1, sizeof(*head));

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	*count = head->e_shnum;
	return part(file, size, head->e_shoff, head->e_shnum, sizeof(Elf64_Shdr));
}

/* A name of a table of names, if it ends in it. */
static const char *name_in(const void *file, size_t size, const Elf64_Shdr *names, uint64_t at)
{
	const char *text;

	if (names->sh_type != SHT_STRTAB || names->sh_offset > size ||
	    names->sh_size > size - names->sh_offset || at >= names->sh_size)
		return NULL;
	text = (const char *)file + names->sh_offset + at;
	return *text && memchr(text, '\0', names->sh_size - at) ? text : NULL;
}

/* The function around an address; a table has some ten thousand rows in no order. */
static const Elf64_Sym *function_around(const Elf64_Sym *rows, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (ELF64_ST_TYPE(rows[i].st_info) == STT_FUNC && rows[i].st_value <= address &&
		    address - rows[i].st_value < rows[i].st_size)
			return &rows[i];
	return NULL;
}

const char *tt_elf_function(uint64_t *start, const void *file, size_t size, uint64_t address)
{
	size_t count = 0;
	const Elf64_Shdr *sections = sections_of(&count, file, size);

	for (size_t i = 0; sections && i < count; i++) {
		const Elf64_Shdr *table = &sections[i];
		size_t rows = table->sh_size / sizeof(Elf64_Sym);
		const Elf64_Sym *first, *found;

		if (table->sh_type != SHT_SYMTAB || table->sh_link >= count)
			continue;
		first = part(file, size, table->sh_offset, rows, sizeof(*first));
		found = first ? function_around(first, rows, address) : NULL;
		if (!found)
			return NULL;
		*start = found->st_value;
		return name_in(file, size, &sections[table->sh_link], found->st_name);
	}
	return NULL;
}

/* The build id among notes. */
static const unsigned char *id_in(size_t *length, const unsigned char *notes, size_t size)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, content;

		memcpy(&note, notes, sizeof(note));
		name = ((size_t)note.n_namesz + 3) / 4 * 4;
		content = ((size_t)note.n_descsz + 3) / 4 * 4;
		notes += sizeof(note);
		size -= sizeof(note);
		if (name > size || content > size - name)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes, "GNU", 4) == 0) {
			*length = note.n_descsz;
			return notes + name;
		}
		notes += name + content;
		size -= name + content;
	}
	*length = 0;
	return NULL;
}

const unsigned char *tt_elf_build_id(size_t *length, const void *file, size_t size)
{
	size_t count = 0;
	const Elf64_Shdr *sections = sections_of(&count, file, size);

	*length = 0;
	for (size_t i = 0; sections && i < count; i++) {
		const unsigned char *id;

		if (sections[i].sh_type != SHT_NOTE || sections[i].sh_offset > size ||
		    sections[i].sh_size > size - sections[i].sh_offset)
			continue;
		id = id_in(length, (const unsigned char *)file + sections[i].sh_offset,
			   sections[i].sh_size);
		if (id)
			return id;
	}
	return NULL;
}

/* ---- the files of this process --------------------------------------------------------------------- */

/* A file with code that was asked for, open for ever; without data when it has no names to give. */
struct module {
	uint64_t bias; /* address in memory - address in the file */
	char *path;    /* with the id: another library may come to lie where one was */
	unsigned char id[TT_BUILD_ID_MAX];
	size_t id_length;
	struct tt_file_map file;
};

TT_LOCK_STATIC(lock, TT_RANK_SYMBOLS, NULL);
static struct module modules[MODULES_MAX];
static size_t module_count;

/* What the dynamic linker is asked. */
struct question {
	uint64_t address;
	struct tt_symbol_place *place;
};

static bool has_code(const struct dl_phdr_info *info, uint64_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD &&
		    address - info->dlpi_addr - part->p_vaddr < part->p_memsz)
			return true;
	}
	return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct question *question = context;
	struct tt_symbol_place *place = question->place;

	(void)size;
	if (!has_code(info, question->address))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && !place->id; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_NOTE)
			place->id = id_in(&place->id_length,
					  (const unsigned char *)(info->dlpi_addr + part->p_vaddr),
					  part->p_memsz);
	}
	place->bias = info->dlpi_addr;
	place->path = info->dlpi_name;
	return 1;
}

/* Whether a file is the one that the code was loaded from. */
static bool is_same(const struct tt_file_map *file, const struct tt_symbol_place *place)
{
	size_t length;
	const unsigned char *id = tt_elf_build_id(&length, file->data, file->size);

	return length == place->id_length && (!length || memcmp(id, place->id, length) == 0);
}

static bool has_names(const struct tt_file_map *file)
{
	size_t count = 0;
	const Elf64_Shdr *sections = sections_of(&count, file->data, file->size);

	for (size_t i = 0; sections && i < count; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			return true;
	return false;
}

/* Maps a file if it has the names of that code. */
static bool map_names(struct tt_file_map *out, const char *path,
		      const struct tt_symbol_place *place)
{
	if (tt_file_map(out, path) != TTNN_OK)
		return false;
	if (is_same(out, place) && has_names(out))
		return true;
	tt_file_unmap(out);
	return false;
}

static void map_names_of(struct tt_file_map *out, const struct tt_symbol_place *place)
{
	struct tt_str path = {0};

	if (map_names(out, *place->path ? place->path : "/proc/self/exe", place) ||
	    place->id_length < 2)
		return;
	tt_str_addf(&path, "/usr/lib/debug/.build-id/%02x/", place->id[0]);
	for (size_t i = 1; i < place->id_length; i++)
		tt_str_addf(&path, "%02x", place->id[i]);
	tt_str_adds(&path, ".debug");
	if (tt_str_status(&path) == TTNN_OK)
		map_names(out, tt_str_text(&path), place);
	tt_str_deinit(&path);
}

static bool is_of(const struct module *module, const struct tt_symbol_place *place)
{
	return module->bias == place->bias && module->id_length == place->id_length &&
	       (!place->id_length || memcmp(module->id, place->id, place->id_length) == 0) &&
	       strcmp(module->path, place->path) == 0;
}

/* With the lock. */
static const struct module *module_of(const struct tt_symbol_place *place)
{
	struct module *module;
	char *path;

	for (size_t i = 0; i < module_count; i++)
		if (is_of(&modules[i], place))
			return &modules[i];
	path = module_count < MODULES_MAX && place->id_length <= TT_BUILD_ID_MAX
		       ? tt_strdup(place->path)
		       : NULL;
	if (!path)
		return NULL;
	module = &modules[module_count++];
	*module = (struct module){.bias = place->bias, .path = path, .id_length = place->id_length};
	if (place->id_length)
		memcpy(module->id, place->id, place->id_length);
	map_names_of(&module->file, place);
	return module;
}

const char *tt_symbol_in(uint64_t *offset, const struct tt_symbol_place *place, uint64_t address)
{
	const struct module *module;
	const char *name = NULL;
	uint64_t start = 0;

	tt_lock_take(&lock);
	module = module_of(place);
	if (module && module->file.data)
		name = tt_elf_function(&start, module->file.data, module->file.size,
				       address - place->bias);
	tt_lock_give(&lock);
	*offset = name ? address - place->bias - start : 0;
	return name;
}

const char *tt_symbol_at(uint64_t *offset, uint64_t address)
{
	struct tt_symbol_place place = {0};
	struct question question = {address, &place};

	if (!dl_iterate_phdr(look, &question))
		return NULL;
	return tt_symbol_in(offset, &place, address);
}
