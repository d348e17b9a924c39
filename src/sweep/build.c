/* build.c: the identity of the code that runs. */
#include "sweep/build.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

/* The program or library that this code is in. */
struct object {
	uintptr_t inside; /* an address of ours */
	const unsigned char *id;
	size_t size;
	char path[4096];
};

/* Looks through the notes of a segment for the linker's build id. */
static void find_id(struct object *out, const unsigned char *notes, size_t size)
{
	for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
		ElfW(Nhdr) head;
		size_t name, content;

		memcpy(&head, notes + at, sizeof(head));
		name = at + sizeof(head);
		content = name + ((head.n_namesz + 3u) & ~3u);
		if (content + head.n_descsz > size)
			return;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0) {
			out->id = notes + content;
			out->size = head.n_descsz;
			return;
		}
		at = content + ((head.n_descsz + 3u) & ~3u);
	}
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
	struct object *out = context;
	bool ours = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + part->p_vaddr;

		ours |= part->p_type == PT_LOAD && out->inside >= begin &&
			out->inside < begin + part->p_memsz;
	}
	for (int i = 0; ours && !out->id && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_NOTE)
			find_id(out,
				(const unsigned char *)(info->dlpi_addr +
							part->p_vaddr), /* NOLINT */
				part->p_memsz);
	}
	if (ours)
		snprintf(out->path, sizeof(out->path), "%s",
			 *info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
	return ours;
}

tt_status tt_build_digest(char out[TT_DIGEST_TEXT])
{
	struct object object = {.inside = (uintptr_t)&tt_build_digest};
	const char *dnnl = getenv("TTNN_DNNL");
	struct tt_str text = {0};
	tt_status status = TTNN_OK;
	char *data = NULL;
	size_t size;

	dl_iterate_phdr(look, &object);
	if (object.id) {
		tt_str_add(&text, (const char *)object.id, object.size);
	} else {
		status = tt_file_read(&data, &size, *object.path ? object.path : "/proc/self/exe");
		if (status == TTNN_OK)
			status = tt_digest_text(out, TT_SHA256, data, size);
		if (status == TTNN_OK)
			tt_str_adds(&text, out);
		tt_free(data);
	}
	tt_str_addf(&text, " %s %s", tt_cpu_isa_name(tt_cpu_isa()), dnnl ? dnnl : "");
	if (status == TTNN_OK)
		status = tt_str_status(&text);
	if (status == TTNN_OK)
		status = tt_digest_text(out, TT_SHA256, tt_str_text(&text), text.length);
	tt_str_deinit(&text);
	return status;
}
