/* Names of functions that the dynamic linker does not know, and damaged files with them. */
#include "test.h"

#include "base/file.h"
#include "base/symbols.h"

__attribute__((noinline)) static int hidden_helper(int n)
{
	return n * 3 + getpid();
}

TEST(static_functions_have_names)
{
	uint64_t offset = 0;
	const char *name = tt_symbol_at(&offset, (uint64_t)(uintptr_t)hidden_helper + 2);

	CHECK(hidden_helper(1) > 3);
	CHECK(name && strcmp(name, "hidden_helper") == 0);
	CHECK_INT(offset, 2);
}

/* A copy of this program that calls the function otherwise, with another build id; NULL: it has none. */
static const unsigned char *make_other(char **copy, size_t *length, const struct tt_file_map *file)
{
	static const char name[] = "hidden_helper";
	const unsigned char *id;
	char *at;

	*copy = malloc(file->size);
	memcpy(*copy, file->data, file->size);
	for (size_t i = 0; i + sizeof(name) <= file->size; i++)
		if (memcmp(*copy + i, name, sizeof(name)) == 0)
			(*copy)[i] = 'H';
	id = tt_elf_build_id(length, *copy, file->size);
	at = id ? *copy + ((const char *)id - *copy) : NULL;
	if (at)
		*at = (char)(*at + 1);
	return id;
}

/* A library is closed, and another one is opened that comes to lie at the same address. */
TEST(another_library_at_the_same_address)
{
	const char *path = test_path("other");
	struct tt_symbol_place place = {.path = "/proc/self/exe"};
	struct tt_file_map file;
	uint64_t offset = 0, address, bias = UINT64_C(1) << 40, start;
	const char *name;
	char *copy;

	CHECK_OK(tt_file_map(&file, "/proc/self/exe"));
	/* Where it is in the file: in memory all of it is moved by the same. */
	for (address = 0; address < file.size; address += 16) {
		name = tt_elf_function(&start, file.data, file.size, address);
		if (name && strcmp(name, "hidden_helper") == 0)
			break;
	}
	place.bias = bias;
	place.id = tt_elf_build_id(&place.id_length, file.data, file.size);
	name = tt_symbol_in(&offset, &place, bias + address);
	CHECK_STR(name, "hidden_helper");
	place.id = make_other(&copy, &place.id_length, &file);
	CHECK_OK(tt_file_save(path, copy, file.size));
	place.path = path;
	name = tt_symbol_in(&offset, &place, bias + address);
	CHECK_STR(name, "Hidden_helper");
	free(copy);
	tt_file_unmap(&file);
}

TEST(what_is_no_code_has_none)
{
	static int data;
	uint64_t offset = 7;

	CHECK(!tt_symbol_at(&offset, (uint64_t)(uintptr_t)&data));
	CHECK(!tt_symbol_at(&offset, 16));
	CHECK(!tt_symbol_at(&offset, UINT64_MAX));
}

/* This program's own file, cut anywhere and with bytes of its tables changed. */
TEST(damaged_files)
{
	struct tt_file_map file;
	uint64_t start, seed = 1;
	size_t length, size;
	char *copy;

	CHECK(tt_file_map(&file, "/proc/self/exe") == TTNN_OK);
	CHECK(tt_elf_build_id(&length, file.data, file.size) ? length > 0 : length == 0);
	size = file.size < 1 << 16 ? file.size : 1 << 16;
	for (size_t cut = 0; cut < size; cut += 61) {
		tt_elf_function(&start, file.data, cut, 0x1000);
		tt_elf_build_id(&length, file.data, cut);
	}
	copy = malloc(file.size);
	for (int round = 0; copy && round < 300; round++) {
		memcpy(copy, file.data, file.size);
		for (int i = 0; i < 8; i++) {
			/* The head, or the table of sections, which is at the end. */
			size_t from = round % 2 ? 0 : file.size - 4096;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			copy[from + (seed >> 33) % (round % 2 ? 64 : 4096)] = (char)(seed >> 25);
		}
		tt_elf_function(&start, copy, file.size, seed >> 44);
		tt_elf_build_id(&length, copy, file.size);
	}
	free(copy);
	tt_file_unmap(&file);
}
