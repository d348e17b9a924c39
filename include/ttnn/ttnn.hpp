/*
 * ttnn.hpp: operations, tensors and devices for C++17, over the C functions of ttnn.h. Header only.
 *
 *	ttnn::Device device = ttnn::open_device(0);
 *	ttnn::Tensor a = ttnn::ones({32, 64}, ttnn::bfloat16, ttnn::TILE_LAYOUT, device);
 *	ttnn::Tensor b = ttnn::multiply(ttnn::exp(a), 0.5, ttnn::named("dtype", ttnn::float32));
 *	std::vector<float> numbers = b.to_vector<float>();
 *
 * Every operation is a function of its name, made from the tables of operations (ttnn_ops.hpp):
 * ttnn::add, ttnn::transformer::..., with the arguments in the order in which `ttnn ops NAME` lists
 * them. What may be left out has a default, and named() gives one whatever its place. Failures are
 * ttnn::Error, with the library's message. Tensors and devices are references: copies share what
 * they stand for, and the last one gives it up. Threads as in ttnn.h.
 */
#ifndef TTNN_TTNN_HPP
#define TTNN_TTNN_HPP

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ttnn.h>

namespace ttnn {

/* What a failure is thrown as. */
class Error : public std::runtime_error {
public:
	explicit Error(enum ttnn_status status) : std::runtime_error(ttnn_error()), status_(status)
	{
	}
	enum ttnn_status status() const { return status_; }

private:
	enum ttnn_status status_;
};

inline void check(enum ttnn_status status)
{
	if (status != TTNN_OK)
		throw Error(status);
}

/* A text that the library made. */
inline std::string take(char *text)
{
	std::unique_ptr<char, void (*)(void *)> owner(text, ttnn_free);

	return text;
}

/* ---- what is often said --------------------------------------------------------------------- */

using DataType = enum ttnn_dtype;
using Layout = enum ttnn_layout;
using MemoryConfig = struct ttnn_memory_config;

#define TTNN_X(NAME, name, code, class, bytes, mantissa, layouts, file)                            \
	inline constexpr DataType name = TTNN_##NAME;
TTNN_DTYPE_LIST(TTNN_X)
#undef TTNN_X
inline constexpr Layout ROW_MAJOR_LAYOUT = TTNN_ROW_MAJOR, TILE_LAYOUT = TTNN_TILE;

inline MemoryConfig interleaved(enum ttnn_buffer_type buffer)
{
	MemoryConfig config{};

	config.buffer = buffer;
	return config;
}
inline const MemoryConfig DRAM_MEMORY_CONFIG = interleaved(TTNN_DRAM),
			  L1_MEMORY_CONFIG = interleaved(TTNN_L1);

/* ---- devices -------------------------------------------------------------------------------- */

class Device {
public:
	Device() = default;
	/* Takes the reference over. */
	explicit Device(ttnn_device *device) : device_(device, ttnn_device_unref) {}
	ttnn_device *get() const { return device_.get(); }

private:
	std::shared_ptr<ttnn_device> device_;
};

inline Device open_device(std::uint32_t device_id = 0,
			  const struct ttnn_device_options &options = {})
{
	ttnn_device *device = nullptr;

	check(ttnn_device_open(&device, device_id, &options));
	return Device(device);
}

/* All chips of the machine, or `rows` times `cols` of them. */
inline Device open_mesh_device(std::uint32_t rows = 0, std::uint32_t cols = 0,
			       const struct ttnn_device_options &options = {})
{
	ttnn_device *device = nullptr;
	struct ttnn_mesh_options mesh {};

	mesh.rows = rows;
	mesh.cols = cols;
	check(ttnn_mesh_open(&device, &mesh, &options));
	return Device(device);
}

/* Frees all its buffers, whoever still refers to the device; the last reference does so, too. */
inline void close_device(const Device &device)
{
	ttnn_device_close(device.get());
}

/* ---- tensors -------------------------------------------------------------------------------- */

namespace detail {
template <typename T> constexpr DataType dtype_of()
{
	static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 4,
		      "elements are float, (u)int8, uint16, (u)int32");
	if (std::is_floating_point_v<T>)
		return TTNN_FLOAT32;
	if (sizeof(T) == 1)
		return std::is_signed_v<T> ? TTNN_INT8 : TTNN_UINT8;
	return sizeof(T) == 2 ? TTNN_UINT16 : std::is_signed_v<T> ? TTNN_INT32 : TTNN_UINT32;
}
} // namespace detail

class Tensor {
public:
	Tensor() = default;
	/* Takes the reference over. */
	explicit Tensor(ttnn_tensor *tensor) : tensor_(tensor, ttnn_tensor_unref) {}
	ttnn_tensor *get() const { return tensor_.get(); }

	const struct ttnn_tensor_spec &spec() const
	{
		if (!get())
			throw std::logic_error("ttnn::Tensor: there is no tensor");
		return *ttnn_tensor_get_spec(get());
	}
	std::vector<std::uint32_t> shape() const
	{
		return {spec().shape.dim, spec().shape.dim + spec().shape.rank};
	}
	DataType dtype() const { return spec().dtype; }
	Layout layout() const { return spec().layout; }
	const MemoryConfig &memory_config() const { return spec().memory; }

	/* The elements in rows, as T. */
	template <typename T> std::vector<T> to_vector() const;

	/* As it prints. */
	std::string text() const;

private:
	std::shared_ptr<ttnn_tensor> tensor_;
};

/* ---- arguments ------------------------------------------------------------------------------ */

/*
 * What an operation is given: a number, a text, a tensor, a list of these and so on. Without
 * anything: not given, which differs from None (std::nullopt). A value keeps what it points at.
 */
class Value {
public:
	Value() = default;
	Value(std::nullopt_t) : value_(ttnn_v_none()) {}
	Value(const struct ttnn_value &value) : value_(value) {} /* borrows */
	Value(bool yes) : value_(ttnn_v_bool(yes)) {}
	template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
	Value(T number) : value_(ttnn_v_int(static_cast<std::int64_t>(number)))
	{
	}
	Value(float number) : value_(ttnn_v_real(static_cast<double>(number))) {}
	Value(double number) : value_(ttnn_v_real(number)) {}
	Value(DataType dtype) : value_(ttnn_v_dtype(dtype)) {}
	Value(Layout layout) : value_(ttnn_v_layout(layout)) {}
	Value(const ttnn_core_set *cores) : value_(ttnn_v_core_set(cores)) {}
	Value(const Tensor &tensor) : value_(ttnn_v_tensor(tensor.get())) { keep(tensor); }
	Value(const Device &device) : value_(ttnn_v_device(device.get())) { keep(device); }
	Value(const char *text) : Value(std::string(text)) {}
	Value(std::string text) { value_ = ttnn_v_string(keep(std::move(text))->c_str()); }
	Value(const struct ttnn_shape &shape) { value_ = ttnn_v_shape(keep(shape)); }
	Value(const MemoryConfig &config) { value_ = ttnn_v_memory(keep(config)); }
	template <typename T>
	Value(const std::optional<T> &value) : Value(value ? Value(*value) : Value(std::nullopt))
	{
	}
	template <typename T> Value(const std::vector<T> &items) { list(items); }
	template <typename T> Value(std::initializer_list<T> items) { list(items); }

	const struct ttnn_value &get() const { return value_; }
	const char *name() const { return name_; }
	friend Value named(const char *name, Value value);

private:
	template <typename T> const T *keep(T thing)
	{
		auto kept = std::make_shared<T>(std::move(thing));

		kept_ = kept;
		return kept.get();
	}
	template <typename List> void list(const List &items)
	{
		std::pair<std::vector<Value>, std::vector<struct ttnn_value>> both;

		for (const auto &item : items)
			both.first.emplace_back(item);
		for (const Value &item : both.first)
			both.second.push_back(item.get());
		const auto *kept = keep(std::move(both));
		value_ = ttnn_v_list(kept->second.data(), kept->second.size());
	}

	struct ttnn_value value_ {};
	std::shared_ptr<const void> kept_;
	const char *name_ = nullptr;
};

/* An argument by its name, in the place of any that may be left out; the name is a literal. */
inline Value named(const char *name, Value value)
{
	value.name_ = name;
	return value;
}

namespace detail {
/* placed: given by its place, since the operation's signatures name it differently. */
struct Argument {
	const char *name;
	const Value &value;
	bool placed = false;
};

inline std::vector<struct ttnn_arg> given(std::initializer_list<Argument> arguments)
{
	std::vector<struct ttnn_arg> args;
	bool complete = true; /* all places so far are filled */

	for (const Argument &argument : arguments) {
		const struct ttnn_value &value = argument.value.get();
		const char *name = argument.value.name();

		complete = complete && !name && value.kind != TTNN_VALUE_ABSENT;
		if (!name && !(argument.placed && complete))
			name = argument.name;
		if (value.kind != TTNN_VALUE_ABSENT)
			args.push_back({name, value});
	}
	return args;
}

inline Tensor one(const char *name, std::initializer_list<Argument> arguments)
{
	const auto args = given(arguments);
	ttnn_tensor *out = nullptr;

	check(ttnn_call_one(&out, name, args.data(), args.size(), TTNN_FRONTEND_C));
	return Tensor(out);
}

inline std::vector<Tensor> many(const char *name, std::initializer_list<Argument> arguments)
{
	const auto args = given(arguments);
	struct ttnn_results results {};

	check(ttnn_call(&results, name, args.data(), args.size(), TTNN_FRONTEND_C));
	std::vector<Tensor> tensors;
	for (std::size_t i = 0; i < results.count; i++)
		tensors.emplace_back(results.tensors[i]);
	return tensors;
}
} // namespace detail

/* Any operation by its name, with arguments in their places or named(): call("ttnn.add", a, b). */
template <typename... Values> Tensor call(const char *name, const Values &...values)
{
	return detail::one(name, {{nullptr, values, true}...});
}

} // namespace ttnn

#include <ttnn_ops.hpp>

namespace ttnn {

/* A tensor of these elements, in rows: of their type without `dtype`, on the host without a device. */
template <typename T>
Tensor from_vector(const std::vector<T> &data, const std::vector<std::int64_t> &shape,
		   std::optional<DataType> dtype = {}, Layout layout = ROW_MAJOR_LAYOUT,
		   const Device &device = {}, const MemoryConfig &memory = DRAM_MEMORY_CONFIG)
{
	struct ttnn_spec_args args {};
	struct ttnn_tensor_spec spec;
	ttnn_tensor *out = nullptr;
	std::uint64_t volume;

	check(ttnn_shape_make(&args.shape, shape.data(), shape.size()));
	check(ttnn_shape_volume(&volume, &args.shape));
	if (volume != data.size())
		throw std::invalid_argument("ttnn::from_vector: the shape has " +
					    std::to_string(volume) + " elements, and " +
					    std::to_string(data.size()) + " are given");
	args.dtype = dtype.value_or(detail::dtype_of<T>());
	args.layout = layout;
	args.memory = memory;
	check(ttnn_tensor_spec_make(&spec, &args));
	check(ttnn_tensor_from_data(&out, data.data(), detail::dtype_of<T>(), &spec, 0));
	return device.get() ? to_device(Tensor(out), device, memory) : Tensor(out);
}

inline std::string Tensor::text() const
{
	char *text = nullptr;

	check(ttnn_tensor_text(&text, from_device(*this).get(), nullptr));
	return take(text);
}

template <typename T> std::vector<T> Tensor::to_vector() const
{
	std::uint64_t volume;
	const Tensor host = from_device(*this);

	check(ttnn_shape_volume(&volume, &spec().shape));
	std::vector<T> data(volume);
	check(ttnn_tensor_to_data(data.data(), volume * sizeof(T), detail::dtype_of<T>(),
				  host.get()));
	return data;
}

} // namespace ttnn

#endif
