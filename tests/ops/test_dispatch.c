/* tokens to the buffers of experts of a prefill, and back, against their goldens */
#include "test.h"

#include "golden.h"
#include "ops/given_mesh.h"

#define CASES 22
#define PREFILL "ttnn.experimental.deepseek_prefill."

static const struct ttnn_memory_config memory[] = {{.buffer = TTNN_DRAM}, {.buffer = TTNN_L1}};

TEST(offsets)
{
	static const uint32_t meshes[][3] = {{1, 8, 1}, {2, 4, 0}, {2, 4, 1}, {4, 2, 0}};
	struct given given = {.state = 1};

	for (uint32_t n = 0; n < CASES + 2; n++) {
		const uint32_t *mesh = meshes[n / 6];
		uint32_t each = 1 + n % 5, experts = each * (2 + n % 4) * 4;
		struct ttnn_spec_args in = {.dtype = TTNN_UINT32};

		given_mesh(mesh[0], mesh[1]);
		in.shape = n % 2 ? (struct ttnn_shape){1, {experts}}
				 : (struct ttnn_shape){2, {1, experts}};
		in.memory = memory[n % 3 == 2];
		given_chips(&given, "input_tensor", &in, 0, n % 4 ? 100 : 2);
		given_add(&given, "cluster_axis", ttnn_v_int(mesh[2]));
		given_add(&given, "num_links", ttnn_v_int(1));
		given_add(&given, "experts_per_chip", ttnn_v_int(each));
		given_add(&given, "memory_config", ttnn_v_memory(&memory[n % 2]));
		given_case(&given, PREFILL "offset_cumsum", n, 1);
	}
}

TEST(zz_all_rows)
{
	golden_check_family("expert_offsets");
	golden_close();
}
