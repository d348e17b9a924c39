/* packed blocks and checksums; the options of traces as words */
#include "test.h"

#include "base/pack.h"
#include "event/environment.h"

TEST(blocks_come_back_as_they_were)
{
	struct tt_packer *packer;
	char data[5000], packed[6000], back[5000];
	uint64_t random = 3;
	size_t size;

	CHECK(tt_pack_bound(sizeof(data)) <= sizeof(packed));
	CHECK_OK(tt_packer_new(&packer));
	for (int turn = 0; turn < 3; turn++) {
		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (char)(turn == 0 ? 0 : test_random(&random) >> (turn * 30));
		CHECK_OK(tt_pack(packed, &size, packer, data, sizeof(data)));
		CHECK_OK(tt_unpack(back, sizeof(back), packed, size));
		CHECK(memcmp(back, data, sizeof(data)) == 0);
		CHECK(turn || size < 100);
		CHECK_FAILS(tt_unpack(back, sizeof(back) - 1, packed, size), TTNN_FORMAT, "packed");
		CHECK_FAILS(tt_unpack(back, sizeof(back), packed, size - 1), TTNN_FORMAT, "packed");
		packed[0] ^= 1;
		CHECK_FAILS(tt_unpack(back, sizeof(back), packed, size), TTNN_FORMAT, "packed");
	}
	tt_packer_free(packer);
}

TEST(checksums_are_those_of_everyone)
{
	CHECK_INT(tt_crc32(0, "123456789", 9), 0xcbf43926);
	CHECK_INT(tt_crc32(tt_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
	CHECK_INT(tt_crc32(0, "", 0), 0);
}

static tt_status parse(struct ttnn_trace_options *out, int *number, const char *words)
{
	static char copy[256];

	*out = (struct ttnn_trace_options){0};
	*number = 0;
	snprintf(copy, sizeof(copy), "%s", words);
	return tt_trace_parse_options(out, number, copy);
}

TEST(options_are_words)
{
	struct ttnn_trace_options options;
	int number;

	CHECK_OK(parse(&options, &number, ""));
	CHECK_OK(parse(&options, &number, "first=3,count=18446744073709551615,stacks,begin=a b"));
	CHECK(options.first_op == 3 && options.op_count == UINT64_MAX && options.stacks);
	CHECK(!options.calls && !options.end_mark && number == 0);
	CHECK_STR(options.begin_mark, "a b");
	CHECK_OK(parse(&options, &number, "signal=SIGUSR2,flush=0,last=9,calls,end="));
	CHECK(number == 12 && options.last_ops == 9 && options.calls);
	CHECK_OK(parse(&options, &number, "signal=10"));
	CHECK_INT(number, 10);
	CHECK_FAILS(parse(&options, &number, "signal=NONE"), TTNN_INVALID, "'NONE' is no signal");
	CHECK_FAILS(parse(&options, &number, "signal=0"), TTNN_INVALID, "no signal");
	CHECK_FAILS(parse(&options, &number, "first=-1"), TTNN_INVALID, "'-1' is no number");
	CHECK_FAILS(parse(&options, &number, "first=0"), TTNN_INVALID, "'0' is no number");
	CHECK_FAILS(parse(&options, &number, "count=0"), TTNN_INVALID, "'0' is no number");
	CHECK_FAILS(parse(&options, &number, "last=0"), TTNN_INVALID, "'0' is no number");
	CHECK_FAILS(parse(&options, &number, "flush=4294967296"), TTNN_INVALID, "no number");
	CHECK_FAILS(parse(&options, &number, "first"), TTNN_INVALID, "wants a value");
	CHECK_FAILS(parse(&options, &number, "frist=1"), TTNN_INVALID, "no option 'frist'");
}

SCENARIO(packing_while_memory_runs_out)
{
	struct tt_packer *packer;
	char packed[200];
	size_t size;
	tt_status status;

	TT_TRY(tt_packer_new(&packer));
	status = tt_pack(packed, &size, packer, "abcdefgh", 8);
	tt_packer_free(packer);
	return status;
}
