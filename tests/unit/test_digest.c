/* test_digest.c: digests against values computed elsewhere, those of the formats among them. */
#include "base/digest.h"
#include "test.h"

static const struct {
	enum tt_digest_kind kind;
	const char *text, *digest;
} known[] = {
	{TT_MD5, "", "d41d8cd98f00b204e9800998ecf8427e"},
	{TT_MD5, "abc", "900150983cd24fb0d6963f7d28e17f72"},
	{TT_SHA224, "", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"},
	{TT_SHA224, "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
	{TT_SHA256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{TT_SHA256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	/* The key by which the tracer of November 2025 tells configurations apart. */
	{TT_MD5,
	 "[{'arg0': {'Tensor': {'logical_shape': [1, 32], 'x': None, 'f': 1e-05}}}, "
	 "{'arg1': 'nullopt'}]",
	 "8e1836cd9640c2343fc52dd6cfef5994"},
	/* The input_hash of a vector of sweeps. */
	{TT_SHA224,
	 "{\"input_specs\":\"[1, 32, 3, 224, 224, 3, 3, 2, 2, 0, 0, 1, 1, 1, True]\",\"inva"
	 "lid_reason\":\"\",\"is_conv1d\":\"False\",\"status\":\"VectorStatus.CURRENT\",\"s"
	 "uite_name\":\"model_traced\",\"sweep_name\":\"model_traced.conv2d_model_traced\","
	 "\"validity\":\"VectorValidity.VALID\"}",
	 "2df1955a6ab5ceead360713c0ec196e6fc59ca7d110594308825b518"},
	/* A config_hash of the layout of 2026. */
	{TT_SHA256,
	 "{\"arguments\": {\"arg0\": {\"memory_config\": {\"shard_spec\": \"None\"}, \"original_shape\": "
	 "[1, 32], \"type\": \"ttnn.Tensor\"}, \"eps\": 1e-05, \"flag\": true, \"x\": null}, "
	 "\"hardware\": [\"Wormhole\", \"n300\", 1], \"mesh\": {\"mesh_shape\": [1, 2], "
	 "\"placement_type\": null, \"shard_dim\": null}, \"operation\": \"ttnn.relu\"}",
	 "7ca4503aa29a7a99f75b88df4608f920224dab6e66b9071546a2a0af2c9f8c4e"},
};

TEST(digests_are_those_known)
{
	char text[TT_DIGEST_TEXT];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		CHECK(tt_digest_text(text, known[i].kind, known[i].text, strlen(known[i].text)) ==
		      TTNN_OK);
		CHECK(strcmp(text, known[i].digest) == 0);
		CHECK(strlen(text) == 2 * tt_digest_size(known[i].kind));
	}
}
