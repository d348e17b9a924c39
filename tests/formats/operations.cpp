/* Operations, creation, devices and errors of ttnn/ttnn.hpp; says what is wrong, and ends with how much. */
#include "ttnn/ttnn.hpp"

#include "ttnn/json.hpp"

#include <cstdio>

static int wrong;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                \
			wrong++;                                                                   \
		}                                                                                  \
	} while (0)

using Floats = std::vector<float>;

static void tensors(const ttnn::Device &device)
{
	const Floats data = {1, 2, 3, 4, 5, 6};
	const auto host = ttnn::from_vector(data, {2, 3});
	const auto there = ttnn::from_vector(data, {2, 3}, ttnn::bfloat16, ttnn::TILE_LAYOUT,
					     device, ttnn::L1_MEMORY_CONFIG);

	CHECK(host.dtype() == ttnn::float32 && host.layout() == ttnn::ROW_MAJOR_LAYOUT);
	CHECK(host.to_vector<float>() == data && there.to_vector<float>() == data);
	CHECK(there.dtype() == ttnn::bfloat16 && there.memory_config().buffer == TTNN_L1);
	CHECK((there.shape() == std::vector<std::uint32_t>{2, 3}));
	CHECK(there.to_vector<std::int32_t>()[5] == 6);
	CHECK(ttnn::from_vector(std::vector<std::uint16_t>{7, 8}, {2}).dtype() == ttnn::uint16);
	CHECK(host.text().find("shape=[2, 3]") != std::string::npos);
	CHECK(ttnn::zeros({2}).to_vector<float>() == Floats(2));
	CHECK(ttnn::arange(0, 3, ttnn::named("dtype", ttnn::float32)).to_vector<float>() ==
	      (Floats{0, 1, 2}));
	CHECK(ttnn::full({2}, 2.5, ttnn::float32).to_vector<float>() == (Floats{2.5, 2.5}));
}

static void operations(const ttnn::Device &device)
{
	const auto a = ttnn::from_vector(Floats{1, 2, 3, 4}, {2, 2}, ttnn::bfloat16,
					 ttnn::TILE_LAYOUT, device);
	const auto sum = ttnn::add(a, a), half = ttnn::multiply(a, 0.5);

	CHECK(sum.to_vector<float>() == (Floats{2, 4, 6, 8}) && half.to_vector<float>()[3] == 2);
	CHECK(ttnn::subtract(7, a).to_vector<float>()[0] == 6);
	CHECK(ttnn::matmul(a, a, false, true).to_vector<float>() == (Floats{5, 11, 11, 25}));
	CHECK(ttnn::concat({a, sum}, 0).shape()[0] == 4);
	CHECK(ttnn::sum(a, std::nullopt).to_vector<float>()[0] == 10);
	CHECK(ttnn::sum(a, ttnn::named("dim", 1)).to_vector<float>() == (Floats{3, 7}));
	CHECK(ttnn::exp(a, ttnn::named("memory_config", ttnn::L1_MEMORY_CONFIG))
		      .memory_config()
		      .buffer == TTNN_L1);
	CHECK(ttnn::slice(a, {0, 1}, {2, 2}).to_vector<float>() == (Floats{2, 4}));
	CHECK(ttnn::pad(a, std::vector<std::vector<int>>{{0, 0}, {0, 1}}, 9.0).to_vector<float>() ==
	      (Floats{1, 2, 9, 3, 4, 9}));
	CHECK(ttnn::topk(a, 1).size() == 2 && ttnn::split(a, 1, 0).size() == 2);
	CHECK(ttnn::typecast(a, ttnn::float32).dtype() == ttnn::float32);
	CHECK(ttnn::experimental::gelu_bw(a, a).shape()[1] == 2);
	CHECK(ttnn::method::cpu(a).to_vector<float>()[0] == 1);
	CHECK(ttnn::call("ttnn.add", a, 1, ttnn::named("dtype", ttnn::float32)).dtype() ==
	      ttnn::float32);
}

template <typename Function> static ttnn_status status_of(Function function)
{
	try {
		function();
	} catch (const ttnn::Error &error) {
		CHECK(error.what()[0]);
		return error.status();
	}
	return TTNN_OK;
}

static void errors(const ttnn::Device &device)
{
	const auto a = ttnn::ones({2, 2}, ttnn::bfloat16, ttnn::TILE_LAYOUT, device),
		   b = ttnn::ones({3, 3});
	bool refused = false, none = false;

	CHECK(status_of([] { ttnn::open_device(99); }) != TTNN_OK);
	CHECK(status_of([&] { ttnn::add(a, "text"); }) == TTNN_TYPE);
	CHECK(status_of([&] { ttnn::add(a, 1, ttnn::named("no_such_argument", 1)); }) == TTNN_TYPE);
	CHECK(status_of([&] { ttnn::add(a, b); }) != TTNN_OK);
	CHECK(status_of([&] { ttnn::call("ttnn.no_such_operation", a); }) == TTNN_NOTFOUND);
	CHECK(status_of([&] { ttnn::relu(ttnn::Tensor()); }) == TTNN_TYPE);
	try {
		ttnn::from_vector(Floats{1}, {2});
	} catch (const std::invalid_argument &) {
		refused = true;
	}
	try {
		(void)ttnn::Tensor().shape();
	} catch (const std::logic_error &) {
		none = true;
	}
	CHECK(refused && none);
}

/* Memory comes back when the last reference is gone. */
static void references(const ttnn::Device &device)
{
	struct ttnn_memory_view before, now;

	ttnn::check(ttnn_device_memory(&before, device.get(), TTNN_DRAM));
	{
		const auto a = ttnn::ones({64, 64}, ttnn::bfloat16, ttnn::TILE_LAYOUT, device),
			   same = a;
		const auto copies = std::vector<ttnn::Tensor>(3, a);
		const ttnn::Value value = copies;

		ttnn::check(ttnn_device_memory(&now, device.get(), TTNN_DRAM));
		CHECK(now.allocated > before.allocated);
	}
	ttnn::check(ttnn_device_memory(&now, device.get(), TTNN_DRAM));
	CHECK(now.allocated == before.allocated);
}

static void json()
{
	const auto value = ttnn::Json::parse(
		"{\"a\": [1, -2.5, \"x\\n\\\"\\u0007\\u00e9\", true, null, {}, []], \"b\": 18446744073709551615}");
	const auto &list = value["a"];
	bool missing = false, other = false;

	CHECK(value.size() == 2 && list.size() == 7 && value.contains("b") && !value.contains("c"));
	CHECK(list[0] == 1 && list[1] == -2.5 && list[2] == "x\n\"\a\u00e9" &&
	      list[3].get<bool>() && list[4].is_null());
	CHECK(list[5].is_object() && list[5].empty() && list[6].is_array() && list[6].empty());
	CHECK(value["b"].get<std::uint64_t>() == UINT64_MAX &&
	      value["b"].dump() == "18446744073709551615");
	try {
		(void)value["c"];
	} catch (const std::out_of_range &) {
		missing = true;
	}
	try {
		(void)value["b"].get<std::string>();
	} catch (const std::domain_error &) {
		other = true;
	}
	CHECK(missing && other);
}

int main()
{
	const auto device = ttnn::open_device();

	tensors(device);
	operations(device);
	errors(device);
	references(device);
	json();
	ttnn::close_device(device);
	std::printf("%d wrong\n", wrong);
	return wrong != 0;
}
