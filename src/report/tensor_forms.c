/*
 * Tensors of a trace, which differ in numbers alone if they are of one form (forms.h): what the first of them was read
 * to be is kept, and numbers are put in.
 */
#include <string.h>

#include "base/mem.h"
#include "report/forms.h"
#include "report/tensors.h"

/* Where the numbers of a place are, among the values, + 1; 0: there is none. */
struct place {
	size_t device, address;
};

struct memo {
	struct tt_report_tensor row;
	size_t place_count;
	struct place places[];
};

/* Which number of a place a key names, the first of them if it is there twice; "device_id" gives way to that of the mesh. */
static void note_place(struct place *place, size_t *mesh, const char *key, size_t length, size_t at)
{
	if (length == 7 && memcmp(key, "address", 7) == 0 && !place->address)
		place->address = at;
	else if (length == 9 && memcmp(key, "device_id", 9) == 0 && !place->device)
		place->device = at;
	else if (length == 14 && memcmp(key, "mesh_device_id", 14) == 0 && !*mesh)
		*mesh = at;
}

/* An object of numbers, without spaces; NULL if it is another. *at counts the values. */
static const char *read_place(struct place *place, size_t *at, const char *text)
{
	size_t mesh = 0;

	if (*text != '{')
		return NULL;
	do {
		const char *key = ++text, *end;

		if (*key != '"' || !(end = strchr(++key, '"')) ||
		    memchr(key, '\\', (size_t)(end - key)) || end[1] != ':' || end[2] < '0' ||
		    end[2] > '9')
			return NULL;
		note_place(place, &mesh, key, (size_t)(end - key), ++*at);
		for (text = end + 2; *text >= '0' && *text <= '9';)
			text++;
	} while (*text == ',');
	if (mesh)
		place->device = mesh;
	return *text == '}' ? text + 1 : NULL;
}

/* A list of such objects with as many numbers as there are values. */
static bool read_places(struct memo *memo, const struct tt_report_form *form)
{
	const char *text = form->places;
	size_t at = form->places_at;

	if (!text)
		return true;
	if (*text != '[')
		return false;
	do {
		text = read_place(&memo->places[memo->place_count++], &at, text + 1);
	} while (text && *text == ',');
	return text && strcmp(text, "]") == 0 && at == form->places_at + form->places_count;
}

/* Whether one of the texts is a number. */
static bool has_odd_text(const struct tt_report_form *form, const struct tt_json *params)
{
	static const char *const keys[] = {"shape", "dtype", "layout", "memory_config",
					   "storage_type"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (tt_report_form_varies(form, tt_json_get(params, keys[i])))
			return true;
	return false;
}

tt_status tt_report_tensors_learn(struct tt_report_form *form, const struct tt_report_tensor *row,
				  const struct tt_json *params)
{
	size_t places = form->places ? form->places_count + 1 : 0;
	struct memo *memo;

	/* Each place has a number at least. */
	if (!form->id_value || (!form->places && tt_json_get(params, "device_tensors")) ||
	    has_odd_text(form, params))
		return TTNN_OK;
	memo = tt_calloc(1, sizeof(*memo) + places * sizeof(*memo->places));
	if (!memo)
		return tt_fail_nomem();
	memo->row = *row;
	if (read_places(memo, form))
		form->memo = memo;
	else
		tt_free(memo);
	return TTNN_OK;
}

static struct tt_report_maybe number_at(const int64_t *values, size_t at)
{
	return at ? (struct tt_report_maybe){true, values[at - 1]} : (struct tt_report_maybe){0};
}

static void map_device(const struct tt_report_tensors *tensors, struct tt_report_maybe *device)
{
	if (device->set && tensors->devices)
		device->value = tt_report_devices_map(tensors->devices, device->value);
}

static tt_status add_places(struct tt_report_tensors *tensors, const struct memo *memo, int64_t id,
			    const int64_t *values)
{
	for (size_t i = 0; i < memo->place_count; i++) {
		struct tt_report_tensor_place *place = tt_spool_push(&tensors->places);

		if (!place)
			return tt_spool_status(&tensors->places);
		place->id = id;
		place->device = number_at(values, memo->places[i].device);
		map_device(tensors, &place->device);
		place->address = number_at(values, memo->places[i].address);
	}
	return TTNN_OK;
}

tt_status tt_report_tensors_again(struct tt_report_tensors *tensors,
				  const struct tt_report_form *form, const int64_t *values)
{
	const struct memo *memo = form->memo;
	struct tt_report_tensor row = memo->row;
	struct tt_report_id *known;
	bool *met;

	row.id = values[form->id_value - 1];
	if (!form->id_is_text && !row.id)
		return TTNN_OK;
	TT_TRY(tt_report_ids_at(&known, &tensors->ids, row.id));
	met = form->id_is_text ? &known->as_text : &known->as_number;
	if (*met)
		return TTNN_OK;
	*met = true;
	if (form->at[TT_FORM_DEVICE_ID]) {
		row.device = number_at(values, form->at[TT_FORM_DEVICE_ID]);
		map_device(tensors, &row.device);
	}
	tt_report_form_number(&row.address.value, form, values, TT_FORM_ADDRESS);
	tt_report_form_number(&row.type.value, form, values, TT_FORM_BUFFER_TYPE);
	TT_TRY(tt_report_tensors_add(tensors, &row));
	return add_places(tensors, memo, row.id, values);
}
