/*
 * fields.h: which members of the event structs traces keep, and in what form. The recorder, the reader
 * and the description in the head of a file are all made of these lists.
 *
 * F(form, member) is a member of the struct, L(form, member, count) an array with its count. Fields
 * are only ever added, at the end of a list: the head of a file says which it has, and the reader
 * takes those it knows and leaves the others at zero.
 *
 * Forms (event/encode.c writes them, trace/decode.c reads them):
 *	BOOL     true or false                      NAME     a text that is never freed
 *	ENUM     a member of a C enumeration        TEXT     any other text, or NULL
 *	U32, U64 a number                           CORES    a core set
 *	SCHEMA   a struct tt_schema, or NULL        VALUES   arguments
 *	TENSORS  what tensors are like              FRAMES   calls on a stack
 *	INFO     what a device is, or NULL          ROW      its row in reports, or NULL
 *	BLOCK    values that repeat, as VALUES
 */
#ifndef TT_EVENT_FIELDS_H
#define TT_EVENT_FIELDS_H

#define TT_FIELDS_begin(F, L)                                                                      \
	F(ENUM, kind)                                                                              \
	F(NAME, name)                                                                              \
	F(SCHEMA, schema)                                                                          \
	L(VALUES, args, arg_count)                                                                 \
	L(TENSORS, inputs, input_count)                                                            \
	F(U32, left_out)

#define TT_FIELDS_end(F, L)                                                                        \
	L(TENSORS, outputs, output_count)                                                          \
	F(BOOL, aborted)

#define TT_FIELDS_buffer(F, L)                                                                     \
	F(U64, buffer_id)                                                                          \
	F(U32, device_id)                                                                          \
	F(ENUM, type)                                                                              \
	F(ENUM, layout)                                                                            \
	F(U64, size)                                                                               \
	F(U64, page_size)                                                                          \
	F(U64, bank_size)                                                                          \
	F(U32, cores)                                                                              \
	F(U64, address)                                                                            \
	F(BOOL, real)

#define TT_FIELDS_program(F, L)                                                                    \
	F(NAME, factory)                                                                           \
	F(U32, factory_index)                                                                      \
	F(BOOL, cache_hit)                                                                         \
	F(U32, device_id)                                                                          \
	F(BLOCK, memory)                                                                           \
	F(BLOCK, facts)

#define TT_FIELDS_memory(F, L)                                                                     \
	F(ENUM, kind)                                                                              \
	F(U32, index)                                                                              \
	F(U64, size)                                                                               \
	F(U64, address)                                                                            \
	F(CORES, cores)                                                                            \
	F(BOOL, borrowed)                                                                          \
	F(U32, device_id)

#define TT_FIELDS_launch(F, L)                                                                     \
	F(U32, device_id)                                                                          \
	F(U32, chip_id)                                                                            \
	F(U64, launch)                                                                             \
	F(CORES, cores)

#define TT_FIELDS_error(F, L)                                                                      \
	F(ENUM, status)                                                                            \
	F(TEXT, message)                                                                           \
	F(TEXT, condition)

#define TT_FIELDS_mark(F, L)                                                                       \
	F(TEXT, text)                                                                              \
	F(TEXT, detail)                                                                            \
	F(ENUM, kind)                                                                              \
	F(U32, color)

#define TT_FIELDS_device(F, L)                                                                     \
	F(U32, device_id)                                                                          \
	F(INFO, info)                                                                              \
	F(ROW, row)

#define TT_FIELDS_mention(F, L) L(TENSORS, tensors, count)

#define TT_FIELDS_stack(F, L)                                                                      \
	F(BOOL, python)                                                                            \
	L(FRAMES, frames, count)

#define TT_FIELDS_thread(F, L)                                                                     \
	F(U64, system_id)                                                                          \
	F(TEXT, name)

#define TT_FIELDS_python_io(F, L)                                                                  \
	F(BOOL, returned)                                                                          \
	F(TEXT, json)

#define TT_FIELDS_loss(F, L)                                                                       \
	F(U64, records)                                                                            \
	F(TEXT, reason)

#define TT_FIELDS_call(F, L)                                                                       \
	F(TEXT, name)                                                                              \
	L(VALUES, values, value_count)                                                             \
	F(TEXT, error)

#define TT_FIELDS_run(F, L)                                                                        \
	F(U32, device_id)                                                                          \
	F(U32, chip_id)                                                                            \
	F(U64, launch)                                                                             \
	F(NAME, name)                                                                              \
	F(U64, whole)                                                                              \
	F(U64, kernel)                                                                             \
	F(U32, threads)                                                                            \
	F(U64, busy_min)                                                                           \
	F(U64, busy_max)                                                                           \
	F(U64, busy)                                                                               \
	F(U64, starts)                                                                             \
	F(U32, trace_id)                                                                           \
	F(U32, session)

#define TT_FIELDS_metal_trace(F, L)                                                                \
	F(ENUM, step)                                                                              \
	F(U32, device_id)                                                                          \
	F(U32, trace_id)                                                                           \
	F(U32, session)

#define TT_FIELDS_place(F, L)                                                                      \
	F(NAME, file)                                                                              \
	F(NAME, function)                                                                          \
	F(U32, line)

#define TT_FIELDS_zone(F, L)                                                                       \
	F(NAME, name)                                                                              \
	F(NAME, function)                                                                          \
	F(NAME, file)                                                                              \
	F(U32, line)                                                                               \
	F(U32, color)

/* X(list): every list of fields, each that of struct tt_event_LIST. */
#define TT_EVENT_STRUCT_LIST(X)                                                                    \
	X(begin)                                                                                   \
	X(end)                                                                                     \
	X(buffer)                                                                                  \
	X(program)                                                                                 \
	X(memory)                                                                                  \
	X(launch)                                                                                  \
	X(error)                                                                                   \
	X(mark)                                                                                    \
	X(device)                                                                                  \
	X(mention)                                                                                 \
	X(stack)                                                                                   \
	X(thread)                                                                                  \
	X(python_io)                                                                               \
	X(loss)                                                                                    \
	X(call)                                                                                    \
	X(run)                                                                                     \
	X(metal_trace)                                                                             \
	X(place)                                                                                   \
	X(zone)

/* The structs are called as their lists are, but for these. */
#define tt_event_begin tt_event_scope_begin
#define tt_event_end tt_event_scope_end
#define tt_event_memory tt_event_program_memory
#define tt_event_launch tt_event_program_launch
#define tt_event_run tt_event_program_run

/* X(kind, list, the name that files call it by) */
#define TT_EVENT_LIST(X)                                                                           \
	X(SCOPE_BEGIN, begin, "scope_begin")                                                       \
	X(SCOPE_END, end, "scope_end")                                                             \
	X(BUFFER_ALLOC, buffer, "buffer_alloc")                                                    \
	X(BUFFER_FREE, buffer, "buffer_free")                                                      \
	X(PROGRAM, program, "program")                                                             \
	X(PROGRAM_MEMORY, memory, "program_memory")                                                \
	X(PROGRAM_RELEASE, device, "program_release")                                              \
	X(PROGRAM_LAUNCH, launch, "program_launch")                                                \
	X(ERROR, error, "error")                                                                   \
	X(MARK, mark, "mark")                                                                      \
	X(DEVICE_OPEN, device, "device_open")                                                      \
	X(DEVICE_CLOSE, device, "device_close")                                                    \
	X(TENSOR, mention, "tensor")                                                               \
	X(STACK, stack, "stack")                                                                   \
	X(THREAD, thread, "thread")                                                                \
	X(PYTHON_IO, python_io, "python_io")                                                       \
	X(LOSS, loss, "loss")                                                                      \
	X(CALL, call, "call")                                                                      \
	X(BUFFER_THERE, buffer, "buffer_there")                                                    \
	X(PROGRAM_RUN, run, "program_run")                                                         \
	X(METAL_TRACE, metal_trace, "metal_trace")                                                 \
	X(PLACE, place, "place")                                                                   \
	X(ZONE_BEGIN, zone, "zone_begin")                                                          \
	X(ZONE_END, zone, "zone_end")

/* The members of struct ttnn_device_info, in the same manner; chips goes with chip_count. */
#define TT_FIELDS_info(F)                                                                          \
	F(U32, id)                                                                                 \
	F(U32, rows)                                                                               \
	F(U32, cols)                                                                               \
	F(TEXT, profile)                                                                           \
	F(TEXT, arch)                                                                              \
	F(TEXT, arch_name)                                                                         \
	F(TEXT, arch_family)                                                                       \
	F(U32, arch_code)                                                                          \
	F(TEXT, cluster)                                                                           \
	F(U32, cluster_code)                                                                       \
	F(ENUM, generation)                                                                        \
	F(TEXT, memory_map)                                                                        \
	F(U32, logical_grid.x)                                                                     \
	F(U32, logical_grid.y)                                                                     \
	F(U32, compute_grid.x)                                                                     \
	F(U32, compute_grid.y)                                                                     \
	F(U32, dram_banks)                                                                         \
	F(U32, l1_banks)                                                                           \
	F(U64, dram_bank_size)                                                                     \
	F(U64, l1_size)                                                                            \
	F(U64, dram_base)                                                                          \
	F(U64, l1_base)                                                                            \
	F(U64, max_worker_l1_size)                                                                 \
	F(U32, dram_alignment)                                                                     \
	F(U32, l1_alignment)                                                                       \
	F(U32, pcie_alignment)                                                                     \
	F(U32, circular_buffers)                                                                   \
	F(U32, queues)                                                                             \
	F(U32, clock_mhz)                                                                          \
	F(F32, sfpu_eps)                                                                           \
	F(F32, sfpu_nan)                                                                           \
	F(F32, sfpu_inf)

/* The same behind the chips, where older traces end. */
#define TT_FIELDS_machine(F)                                                                       \
	F(TEXT, board_type)                                                                        \
	F(TEXT, device_series)                                                                     \
	F(U32, card_count)

/* The letter that the head of a file has for a form. */
enum tt_form {
	TT_FORM_BOOL = 'b',
	TT_FORM_ENUM = 'e',
	TT_FORM_U32 = 'u',
	TT_FORM_U64 = 'l',
	TT_FORM_NAME = 'n',
	TT_FORM_TEXT = 't',
	TT_FORM_CORES = 'c',
	TT_FORM_SCHEMA = 's',
	TT_FORM_VALUES = 'v',
	TT_FORM_BLOCK = TT_FORM_VALUES,
	TT_FORM_TENSORS = 'o',
	TT_FORM_INFO = 'i',
	TT_FORM_ROW = 'r',
	TT_FORM_FRAMES = 'f',
};

#endif
