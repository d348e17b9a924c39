/*
 * enum_table.c: all enumerations that frontends show, and where upstream has them. Most are taken as
 * they come: nothing here asks for their members.
 *
 * To add one: its rows, and a line at the end. Those that operations ask for are in op_enums.c and
 * tensor/enums.c, and have a line here too.
 */
#include "ops/op_enums.h"

#include <ttnn_frontend.h>

#include "ops/conv/conv.h"

#include "ops/norm/norm.h"

static const struct tt_enum_row cluster_type_rows[] = {{0, "INVALID"},
						       {1, "N150"},
						       {2, "N300"},
						       {3, "T3K"},
						       {4, "GALAXY"},
						       {5, "TG"},
						       {6, "P100"},
						       {7, "P150"},
						       {8, "P150_X2"},
						       {9, "P150_X4"},
						       {10, "SIMULATOR_WORMHOLE_B0"},
						       {11, "SIMULATOR_BLACKHOLE"},
						       {12, "N300_2x2"},
						       {13, "P150_X8"},
						       {14, "P300"},
						       {15, "SIMULATOR_QUASAR"},
						       {16, "BLACKHOLE_GALAXY"},
						       {17, "P300_X2"},
						       {18, "CUSTOM"}};
static const struct tt_enum cluster_type = {"ClusterType", cluster_type_rows,
					    TT_COUNT(cluster_type_rows)};

static const struct tt_enum_row d2_dstage_gate_mode_rows[] = {{0, "KeepOpen"},
							      {1, "CloseOnTransit"}};
static const struct tt_enum d2_dstage_gate_mode = {"D2DStageGateMode", d2_dstage_gate_mode_rows,
						   TT_COUNT(d2_dstage_gate_mode_rows)};

static const struct tt_enum_row arch_rows[] = {{2, "WORMHOLE_B0"}, {3, "BLACKHOLE"}, {4, "QUASAR"}};
static const struct tt_enum arch = {"Arch", arch_rows, TT_COUNT(arch_rows)};

static const struct tt_enum_row dispatch_core_axis_rows[] = {{0, "ROW"}, {1, "COL"}};
static const struct tt_enum dispatch_core_axis = {"DispatchCoreAxis", dispatch_core_axis_rows,
						  TT_COUNT(dispatch_core_axis_rows)};

static const struct tt_enum_row dispatch_core_type_rows[] = {{0, "WORKER"}, {1, "ETH"}};
static const struct tt_enum dispatch_core_type = {"DispatchCoreType", dispatch_core_type_rows,
						  TT_COUNT(dispatch_core_type_rows)};

static const struct tt_enum_row fabric_config_rows[] = {{0, "DISABLED"},
							{1, "FABRIC_1D_NEIGHBOR_EXCHANGE"},
							{2, "FABRIC_1D"},
							{3, "FABRIC_1D_RING"},
							{4, "FABRIC_2D"},
							{5, "FABRIC_2D_TORUS_X"},
							{6, "FABRIC_2D_TORUS_Y"},
							{7, "FABRIC_2D_TORUS_XY"},
							{8, "CUSTOM"}};
const struct tt_enum tt_enum_fabric = {"FabricConfig", fabric_config_rows,
				       TT_COUNT(fabric_config_rows)};

static const struct tt_enum_row fabric_manager_mode_rows[] = {
	{0, "ENABLED"}, {1, "INIT_FABRIC"}, {2, "TERMINATE_FABRIC"}, {3, "DEFAULT"}};
static const struct tt_enum fabric_manager_mode = {"FabricManagerMode", fabric_manager_mode_rows,
						   TT_COUNT(fabric_manager_mode_rows)};

static const struct tt_enum_row fabric_reliability_mode_rows[] = {
	{0, "STRICT_INIT"}, {1, "RELAXED_INIT"}, {2, "DYNAMIC_RECONFIG"}};
static const struct tt_enum fabric_reliability_mode = {"FabricReliabilityMode",
						       fabric_reliability_mode_rows,
						       TT_COUNT(fabric_reliability_mode_rows)};

static const struct tt_enum_row fabric_tensix_config_rows[] = {{0, "DISABLED"}, {1, "MUX"}};
static const struct tt_enum fabric_tensix_config = {"FabricTensixConfig", fabric_tensix_config_rows,
						    TT_COUNT(fabric_tensix_config_rows)};

static const struct tt_enum_row fabric_type_rows[] = {
	{1, "MESH"}, {2, "TORUS_X"}, {4, "TORUS_Y"}, {6, "TORUS_XY"}};
static const struct tt_enum fabric_type = {"FabricType", fabric_type_rows,
					   TT_COUNT(fabric_type_rows)};

static const struct tt_enum_row fabric_udmmode_rows[] = {{0, "DISABLED"}, {1, "ENABLED"}};
static const struct tt_enum fabric_udmmode = {"FabricUDMMode", fabric_udmmode_rows,
					      TT_COUNT(fabric_udmmode_rows)};

static const struct tt_enum_row run_mode_rows[] = {{0, "NORMAL"}, {1, "NO_DISPATCH"}};
static const struct tt_enum run_mode = {"RunMode", run_mode_rows, TT_COUNT(run_mode_rows)};

static const struct tt_enum_row h2_dmode_rows[] = {{0, "HOST_PUSH"}, {1, "DEVICE_PULL"}};
static const struct tt_enum h2_dmode = {"H2DMode", h2_dmode_rows, TT_COUNT(h2_dmode_rows)};

static const struct tt_enum_row mcast_core_order_rows[] = {{0, "RowMajor"}, {1, "ColumnMajor"}};
static const struct tt_enum mcast_core_order = {"McastCoreOrder", mcast_core_order_rows,
						TT_COUNT(mcast_core_order_rows)};

static const struct tt_enum_row mcast_data_ready_rows[] = {{0, "Flag"}, {1, "Counter"}};
static const struct tt_enum mcast_data_ready = {"McastDataReady", mcast_data_ready_rows,
						TT_COUNT(mcast_data_ready_rows)};

static const struct tt_enum_row mcast_sender_placement_rows[] = {{0, "Uniform"}, {1, "Staggered"}};
static const struct tt_enum mcast_sender_placement = {
	"McastSenderPlacement", mcast_sender_placement_rows, TT_COUNT(mcast_sender_placement_rows)};

static const struct tt_enum_row transfer_mode_rows[] = {{0, "Multicast"}, {1, "ChainUnicast"}};
static const struct tt_enum transfer_mode = {"TransferMode", transfer_mode_rows,
					     TT_COUNT(transfer_mode_rows)};

static const struct tt_enum_row socket_endpoint_rows[] = {{0, "SENDER"}, {1, "RECEIVER"}};
static const struct tt_enum socket_endpoint = {"SocketEndpoint", socket_endpoint_rows,
					       TT_COUNT(socket_endpoint_rows)};

static const struct tt_enum_row routing_direction_rows[] = {
	{0, "N"}, {1, "E"}, {2, "S"}, {3, "W"}, {4, "Z"}, {5, "C"}, {6, "NONE"}};
static const struct tt_enum routing_direction = {"RoutingDirection", routing_direction_rows,
						 TT_COUNT(routing_direction_rows)};

static const struct tt_enum_row topology_rows[] = {
	{1, "Linear"}, {2, "Ring"}, {3, "Mesh"}, {4, "Torus"}};
const struct tt_enum tt_enum_topology = {"Topology", topology_rows, TT_COUNT(topology_rows)};

static const struct tt_enum_row throttle_level_rows[] = {{0, "NO_THROTTLE"}, {1, "LEVEL_1"},
							 {2, "LEVEL_2"},     {3, "LEVEL_3"},
							 {4, "LEVEL_4"},     {5, "LEVEL_5"}};
static const struct tt_enum throttle_level = {"ThrottleLevel", throttle_level_rows,
					      TT_COUNT(throttle_level_rows)};

static const struct tt_enum_row tile_reshape_map_mode_rows[] = {{0, "CACHE"}, {1, "RECREATE"}};
static const struct tt_enum tile_reshape_map_mode = {
	"TileReshapeMapMode", tile_reshape_map_mode_rows, TT_COUNT(tile_reshape_map_mode_rows)};

static const struct tt_enum_row routed_expert_activation_rows[] = {
	{0, "Silu"}, {1, "SwiGluOai"}, {2, "SituGlu"}, {3, "ClampedSiluGlu"}};
const struct tt_enum tt_enum_routed_expert_activation = {"RoutedExpertActivation",
							 routed_expert_activation_rows,
							 TT_COUNT(routed_expert_activation_rows)};

static const struct tt_enum_row dispatch_algorithm_rows[] = {{0, "BROADCAST"},
							     {1, "SPARSE_UNICAST"},
							     {2, "SPARSE_MCAST_LINEAR"},
							     {3, "SPARSE_MCAST_SHORTEST_PATH"},
							     {4, "SPARSE_MCAST_SPLIT_BW"}};
const struct tt_enum tt_enum_dispatch_algorithm = {"DispatchAlgorithm", dispatch_algorithm_rows,
						   TT_COUNT(dispatch_algorithm_rows)};

static const struct tt_enum_row mmsignal_aggregator_mode_rows[] = {
	{0, "Auto"}, {1, "On"}, {2, "Off"}};
const struct tt_enum tt_enum_signal_aggregators = {"MMSignalAggregatorMode",
						   mmsignal_aggregator_mode_rows,
						   TT_COUNT(mmsignal_aggregator_mode_rows)};

static const struct tt_enum_row mo_eactivation_function_rows[] = {
	{0, "SILU"}, {1, "SWIGLU"}, {2, "GELU"}, {3, "CLAMPED_SILU"}};
const struct tt_enum tt_enum_moe_activation = {"MoEActivationFunction",
					       mo_eactivation_function_rows,
					       TT_COUNT(mo_eactivation_function_rows)};

static const struct tt_enum_row worker_mode_rows[] = {
	{0, "DIRECT"}, {1, "MUX_TOKEN_SPLIT"}, {2, "MUX_PAYLOAD_SPLIT"}};
const struct tt_enum tt_enum_worker_mode = {"WorkerMode", worker_mode_rows,
					    TT_COUNT(worker_mode_rows)};

static const struct tt_enum_row chunk_compression_rows[] = {{0, "UNROLLED"}, {1, "STRIDED_ROWS"}};
static const struct tt_enum chunk_compression = {"ChunkCompression", chunk_compression_rows,
						 TT_COUNT(chunk_compression_rows)};

static const struct tt_enum_row kv_chunk_tensor_type_rows[] = {{0, "Kv"}, {1, "Snapshot"}};
static const struct tt_enum kv_chunk_tensor_type = {"KvChunkTensorType", kv_chunk_tensor_type_rows,
						    TT_COUNT(kv_chunk_tensor_type_rows)};

static const struct tt_enum_row channel_type_rows[] = {{0, "FULL_SIZE"}, {1, "HEADER_ONLY"}};
static const struct tt_enum channel_type = {"ChannelType", channel_type_rows,
					    TT_COUNT(channel_type_rows)};

static const struct tt_enum_row kernel_build_opt_level_rows[] = {
	{0, "O1"}, {1, "O2"}, {2, "O3"}, {3, "O0"}, {4, "Os"}, {5, "Ofast"}, {6, "Oz"}};
static const struct tt_enum kernel_build_opt_level = {
	"KernelBuildOptLevel", kernel_build_opt_level_rows, TT_COUNT(kernel_build_opt_level_rows)};

static const struct tt_enum_row moreh_softmax_backward_op_rows[] = {
	{0, "SOFTMAX"}, {1, "SOFTMIN"}, {2, "LOGSOFTMAX"}};
const struct tt_enum tt_enum_moreh_softmax_backward = {"MorehSoftmaxBackwardOp",
						       moreh_softmax_backward_op_rows,
						       TT_COUNT(moreh_softmax_backward_op_rows)};

static const struct tt_enum_row moreh_softmax_backward_op_parallelization_strategy_rows[] = {
	{0, "NONE"},    {1, "SMALL_W"}, {2, "SMALL_H"},
	{3, "LARGE_W"}, {4, "LARGE_H"}, {5, "LARGE_C"}};
const struct tt_enum tt_enum_moreh_softmax_backward_strategy = {
	"MorehSoftmaxBackwardOpParallelizationStrategy",
	moreh_softmax_backward_op_parallelization_strategy_rows,
	TT_COUNT(moreh_softmax_backward_op_parallelization_strategy_rows)};

static const struct tt_enum_row moreh_softmax_op_rows[] = {
	{0, "SOFTMAX"}, {1, "SOFTMIN"}, {2, "LOGSOFTMAX"}};
const struct tt_enum tt_enum_moreh_softmax = {"MorehSoftmaxOp", moreh_softmax_op_rows,
					      TT_COUNT(moreh_softmax_op_rows)};

static const struct tt_enum_row moreh_softmax_op_parallelization_strategy_rows[] = {
	{0, "NONE"},    {1, "SMALL_W"}, {2, "SMALL_H"},
	{3, "LARGE_W"}, {4, "LARGE_H"}, {5, "LARGE_C"}};
const struct tt_enum tt_enum_moreh_softmax_strategy = {
	"MorehSoftmaxOpParallelizationStrategy", moreh_softmax_op_parallelization_strategy_rows,
	TT_COUNT(moreh_softmax_op_parallelization_strategy_rows)};

static const struct tt_enum_row reduce_type_rows[] = {
	{0, "Sum"}, {1, "Mean"}, {2, "Max"}, {3, "Min"}, {4, "Std"}, {5, "Var"}, {6, "Prod"}};
const struct tt_enum tt_enum_reduce_type = {"ReduceType", reduce_type_rows,
					    TT_COUNT(reduce_type_rows)};

static const struct tt_enum_row cbindex_rows[] = {
	{0, "c_0"},   {1, "c_1"},   {2, "c_2"},   {3, "c_3"},   {4, "c_4"},   {5, "c_5"},
	{6, "c_6"},   {7, "c_7"},   {8, "c_8"},   {9, "c_9"},   {10, "c_10"}, {11, "c_11"},
	{12, "c_12"}, {13, "c_13"}, {14, "c_14"}, {15, "c_15"}, {16, "c_16"}, {17, "c_17"},
	{18, "c_18"}, {19, "c_19"}, {20, "c_20"}, {21, "c_21"}, {22, "c_22"}, {23, "c_23"},
	{24, "c_24"}, {25, "c_25"}, {26, "c_26"}, {27, "c_27"}, {28, "c_28"}, {29, "c_29"},
	{30, "c_30"}, {31, "c_31"}, {32, "c_32"}, {33, "c_33"}, {34, "c_34"}, {35, "c_35"},
	{36, "c_36"}, {37, "c_37"}, {38, "c_38"}, {39, "c_39"}, {40, "c_40"}, {41, "c_41"},
	{42, "c_42"}, {43, "c_43"}, {44, "c_44"}, {45, "c_45"}, {46, "c_46"}, {47, "c_47"},
	{48, "c_48"}, {49, "c_49"}, {50, "c_50"}, {51, "c_51"}, {52, "c_52"}, {53, "c_53"},
	{54, "c_54"}, {55, "c_55"}, {56, "c_56"}, {57, "c_57"}, {58, "c_58"}, {59, "c_59"},
	{60, "c_60"}, {61, "c_61"}, {62, "c_62"}, {63, "c_63"}};
static const struct tt_enum cbindex = {"CBIndex", cbindex_rows, TT_COUNT(cbindex_rows)};

static const struct tt_enum_row unpack_to_dest_mode_rows[] = {{0, "UnpackToDestFp32"},
							      {1, "Default"}};
static const struct tt_enum unpack_to_dest_mode = {"UnpackToDestMode", unpack_to_dest_mode_rows,
						   TT_COUNT(unpack_to_dest_mode_rows)};

static const struct tt_enum_row dump_tensor_mode_rows[] = {{0, "DISTRIBUTED_GATHER"}, {1, "LOCAL"}};
static const struct tt_enum dump_tensor_mode = {"DumpTensorMode", dump_tensor_mode_rows,
						TT_COUNT(dump_tensor_mode_rows)};

static const struct tt_enum_row shard_shape_alignment_rows[] = {
	{0, "NONE"}, {1, "REQUIRED"}, {2, "RECOMMENDED"}};
static const struct tt_enum shard_shape_alignment = {
	"ShardShapeAlignment", shard_shape_alignment_rows, TT_COUNT(shard_shape_alignment_rows)};

static const struct tt_enum_row core_type_rows[] = {
	{0, "ARC"},     {1, "DRAM"},     {2, "ACTIVE_ETH"},  {3, "IDLE_ETH"},
	{4, "PCIE"},    {5, "TENSIX"},   {6, "ROUTER_ONLY"}, {7, "SECURITY"},
	{8, "L2CPU"},   {9, "DISPATCH"}, {10, "HARVESTED"},  {11, "ETH"},
	{12, "WORKER"}, {13, "COUNT"},   {14, "UNSPECIFIED"}};
static const struct tt_enum core_type = {"CoreType", core_type_rows, TT_COUNT(core_type_rows)};

static const struct tt_enum_row data_movement_processor_rows[] = {
	{0, "RISCV_0"}, {1, "RISCV_1"}, {2, "RISCV_2"}, {3, "RISCV_3"},
	{4, "RISCV_4"}, {5, "RISCV_5"}, {6, "RISCV_6"}, {7, "RISCV_7"}};
static const struct tt_enum data_movement_processor = {"DataMovementProcessor",
						       data_movement_processor_rows,
						       TT_COUNT(data_movement_processor_rows)};

static const struct tt_enum_row noc_rows[] = {
	{0, "NOC_0"}, {0, "RISCV_0_default"}, {1, "NOC_1"}, {1, "RISCV_1_default"}};
static const struct tt_enum noc = {"NOC", noc_rows, TT_COUNT(noc_rows)};

static const struct tt_enum_row noc__mode_rows[] = {{0, "DM_DEDICATED_NOC"}, {1, "DM_DYNAMIC_NOC"}};
static const struct tt_enum noc__mode = {"NOC_MODE", noc__mode_rows, TT_COUNT(noc__mode_rows)};

static const struct {
	const char *module;
	const struct tt_enum *type;
} list[] = {
	{"activation", &tt_enum_unary},
	{"cluster", &cluster_type},
	{"d2d_stream_service", &d2_dstage_gate_mode},
	{"device", &arch},
	{"device", &dispatch_core_axis},
	{"device", &dispatch_core_type},
	{"fabric", &tt_enum_fabric},
	{"fabric", &fabric_manager_mode},
	{"fabric", &fabric_reliability_mode},
	{"fabric", &fabric_tensix_config},
	{"fabric", &fabric_type},
	{"fabric", &fabric_udmmode},
	{"graph", &run_mode},
	{"hd_socket", &h2_dmode},
	{"mcast_host", &mcast_core_order},
	{"mcast_host", &mcast_data_ready},
	{"mcast_host", &mcast_sender_placement},
	{"mcast_host", &transfer_mode},
	{"mesh_socket", &socket_endpoint},
	{"multi_device.experimental", &routing_direction},
	{"operations.binary", &tt_enum_binary},
	{"operations.ccl", &tt_enum_topology},
	{"operations.conv", &tt_enum_padding},
	{"operations.conv", &tt_enum_slice},
	{"operations.core", &throttle_level},
	{"operations.data_movement", &tile_reshape_map_mode},
	{"operations.embedding", &tt_enum_embeddings},
	{"operations.experimental", &tt_enum_rgb_range},
	{"operations.experimental", &tt_enum_routed_expert_activation},
	{"operations.experimental", &tt_enum_yuv_space},
	{"operations.experimental", &tt_enum_yuv_format},
	{"operations.experimental", &tt_enum_yuv_range},
	{"operations.experimental.ccl_experimental", &tt_enum_dispatch_algorithm},
	{"operations.experimental.ccl_experimental", &tt_enum_signal_aggregators},
	{"operations.experimental.ccl_experimental", &tt_enum_moe_activation},
	{"operations.experimental.ccl_experimental", &tt_enum_worker_mode},
	{"operations.experimental.disaggregation", &chunk_compression},
	{"operations.experimental.disaggregation", &kv_chunk_tensor_type},
	{"operations.experimental.fabric_mux", &channel_type},
	{"operations.experimental.fabric_mux", &kernel_build_opt_level},
	{"operations.loss", &tt_enum_loss_reduction},
	{"operations.moreh", &tt_enum_moreh_softmax_backward},
	{"operations.moreh", &tt_enum_moreh_softmax_backward_strategy},
	{"operations.moreh", &tt_enum_moreh_softmax},
	{"operations.moreh", &tt_enum_moreh_softmax_strategy},
	{"operations.normalization", &tt_enum_norm_stage},
	{"operations.normalization", &tt_enum_norm_type},
	{"operations.reduction", &tt_enum_reduce_type},
	{"operations.transformer", &tt_enum_wy_inverse},
	{"operations.transformer", &tt_enum_sparse_kv_format},
	{"operations.unary", &tt_enum_gelu_variant},
	{"operations.unary", &tt_enum_sigmoid_mode},
	{"program_descriptor", &cbindex},
	{"program_descriptor", &unpack_to_dest_mode},
	{"tensor", &tt_enum_buffer_type},
	{"tensor", &tt_enum_dtype},
	{"tensor", &dump_tensor_mode},
	{"tensor", &tt_enum_layout},
	{"tensor", &tt_enum_math_fidelity},
	{"tensor", &tt_enum_shard_strategy},
	{"tensor", &tt_enum_orientation},
	{"tensor", &shard_shape_alignment},
	{"tensor", &tt_enum_storage_type},
	{"tensor", &tt_enum_memory_layout},
	{"types", &tt_enum_bcast_dim},
	{"types", &tt_enum_bcast_math},
	{"types", &core_type},
	{"types", &data_movement_processor},
	{"types", &noc},
	{"types", &noc__mode},
};

const ttnn_enum *ttnn_enum_at(const char **module, size_t i)
{
	if (i >= TT_COUNT(list))
		return NULL;
	*module = list[i].module;
	return list[i].type;
}
