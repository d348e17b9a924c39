"""Models as users write them. Each takes (ttnn, torch, device), makes its weights and inputs with
torch's random numbers, and returns its forward pass.

They run on whatever is given as `ttnn`: the package, or in_torch.py, which says the same in torch.
"""

MODELS = {}


def model(name, **device):
    """Registers a model; `device` are arguments of open_device."""

    def mark(function):
        MODELS[name] = (function, device)
        return function

    return mark


def weights(ttnn, torch, device):
    """A maker of random device weights in TILE layout."""

    def make(*shape, dtype=None, layout=None, memory_config=None):
        t = torch.randn(shape) * 0.02
        return ttnn.from_torch(t, dtype=dtype or ttnn.bfloat16, layout=layout or ttnn.TILE_LAYOUT, device=device, memory_config=memory_config or ttnn.DRAM_MEMORY_CONFIG)

    return make


@model("mlp")
def mlp(ttnn, torch, device):
    """784-512-256-10 classifier, batch 64: linear with fused and separate activations, softmax."""
    w = weights(ttnn, torch, device)
    sizes = (784, 512, 256, 10)
    layers = [(w(a, b), w(1, b)) for a, b in zip(sizes, sizes[1:])]
    image = torch.randn(64, 1, 28, 28)

    def forward():
        x = ttnn.from_torch(image, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
        x = ttnn.reshape(x, (64, 784))
        x = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
        for i, (weight, bias) in enumerate(layers):
            last = i == len(layers) - 1
            y = ttnn.linear(x, weight, bias=bias, activation="relu" if i == 0 else None, memory_config=ttnn.L1_MEMORY_CONFIG)
            ttnn.deallocate(x)
            x = y if last or i == 0 else ttnn.relu(y, memory_config=ttnn.L1_MEMORY_CONFIG)
        x = ttnn.softmax(x, dim=-1)
        return ttnn.to_torch(x)

    return forward


def encoder_layer(ttnn, p, x, mask, heads, grid=None):
    l1 = ttnn.L1_MEMORY_CONFIG
    qkv = ttnn.linear(x, p["qkv"], bias=p["qkv_b"], memory_config=l1, core_grid=grid)
    q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads=heads, memory_config=l1)
    ttnn.deallocate(qkv)
    scores = ttnn.matmul(q, k, memory_config=l1, core_grid=grid)
    ttnn.deallocate(q), ttnn.deallocate(k)
    probs = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=p["head"])
    context = ttnn.matmul(probs, v, memory_config=l1, core_grid=grid)
    ttnn.deallocate(probs), ttnn.deallocate(v)
    merged = ttnn.transformer.concatenate_heads(context, memory_config=l1)
    ttnn.deallocate(context)
    out = ttnn.linear(merged, p["out"], bias=p["out_b"], memory_config=l1, core_grid=grid)
    ttnn.deallocate(merged)
    h = ttnn.layer_norm(x, residual_input_tensor=out, weight=p["n1"], bias=p["n1_b"], epsilon=1e-12, memory_config=l1)
    ttnn.deallocate(out), ttnn.deallocate(x)
    f = ttnn.linear(h, p["up"], bias=p["up_b"], activation="gelu", memory_config=l1, core_grid=grid)
    g = ttnn.linear(f, p["down"], bias=p["down_b"], memory_config=l1, core_grid=grid)
    ttnn.deallocate(f)
    y = ttnn.layer_norm(h, residual_input_tensor=g, weight=p["n2"], bias=p["n2_b"], epsilon=1e-12, memory_config=l1)
    ttnn.deallocate(g), ttnn.deallocate(h)
    return y


def encoder(ttnn, torch, device, layers, width, heads, inner, batch, length, vocabulary=30522):
    w = weights(ttnn, torch, device)
    rm = ttnn.ROW_MAJOR_LAYOUT
    words, types, places = w(vocabulary, width, layout=rm), w(2, width, layout=rm), w(512, width, layout=rm)
    n, nb = w(1, width), w(1, width)
    stack = [
        dict(head=width // heads, qkv=w(width, 3 * width), qkv_b=w(1, 3 * width), out=w(width, width), out_b=w(1, width), n1=w(1, width), n1_b=w(1, width),
             up=w(width, inner), up_b=w(1, inner), down=w(inner, width), down_b=w(1, width), n2=w(1, width), n2_b=w(1, width))
        for _ in range(layers)
    ]
    ids = torch.randint(0, vocabulary, (batch, length), dtype=torch.int32)
    put = lambda t, layout, dtype: ttnn.from_torch(t, dtype=dtype, layout=layout, device=device)
    tokens = put(ids, rm, ttnn.uint32)
    segments = put(torch.zeros_like(ids), rm, ttnn.uint32)
    positions = put(torch.arange(length, dtype=torch.int32).repeat(batch, 1), rm, ttnn.uint32)
    mask = put(torch.zeros(batch, 1, 1, length), ttnn.TILE_LAYOUT, ttnn.bfloat16)
    grid = ttnn.CoreGrid(y=8, x=8) if batch == 8 else None

    def forward():
        x = ttnn.embedding(tokens, words, layout=ttnn.TILE_LAYOUT)
        x = ttnn.add(x, ttnn.embedding(segments, types, layout=ttnn.TILE_LAYOUT))
        x = ttnn.add(x, ttnn.embedding(positions, places, layout=ttnn.TILE_LAYOUT))
        x = ttnn.layer_norm(x, weight=n, bias=nb, epsilon=1e-12, memory_config=ttnn.L1_MEMORY_CONFIG)
        for p in stack:
            x = encoder_layer(ttnn, p, x, mask, heads, grid)
        return ttnn.mean(x, dim=1)

    return forward


@model("minilm_l6")
def minilm_l6(ttnn, torch, device):
    """All-MiniLM-L6 sizes: 6 layers, width 384, 12 heads, batch 8, 128 tokens, mean pooling."""
    return encoder(ttnn, torch, device, 6, 384, 12, 1536, 8, 128)


def conv(ttnn, torch, device, cin, cout, kernel, stride=1, groups=1, activation=None, shard=None, dtype=None, **more):
    """A convolution with its own weights; remembers the prepared ones as models do."""
    state = {
        "weight": ttnn.from_torch(torch.randn(cout, cin // groups, kernel, kernel) * 0.05, dtype=ttnn.float32),
        "bias": ttnn.from_torch(torch.randn(1, 1, 1, cout) * 0.05, dtype=ttnn.float32),
    }
    config = ttnn.Conv2dConfig(weights_dtype=dtype or ttnn.bfloat16, activation=activation, shard_layout=shard, deallocate_activation=True, **more)
    compute = ttnn.init_device_compute_kernel_config(device.arch(), math_fidelity=ttnn.MathFidelity.LoFi, fp32_dest_acc_en=False, packer_l1_acc=True)

    def run(x, batch, height, width):
        y, (h, w), (state["weight"], state["bias"]) = ttnn.conv2d(
            input_tensor=x, weight_tensor=state["weight"], bias_tensor=state["bias"], device=device, in_channels=cin, out_channels=cout, batch_size=batch,
            input_height=height, input_width=width, kernel_size=(kernel, kernel), stride=(stride, stride), padding=(kernel // 2, kernel // 2), dilation=(1, 1),
            groups=groups, conv_config=config, compute_config=compute, return_output_dim=True, return_weights_and_bias=True, dtype=ttnn.bfloat16)
        return y, h, w

    return run


def silu(ttnn):
    return ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU)


def relu(ttnn):
    return ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)


def mbconv(ttnn, torch, device, cin, cout, expand, kernel, stride):
    """EfficientNet's block: expansion, depthwise, squeeze and excitation, projection."""
    mid, small = cin * expand, max(1, cin // 4)
    widen = conv(ttnn, torch, device, cin, mid, 1, activation=silu(ttnn)) if expand > 1 else None
    depth = conv(ttnn, torch, device, mid, mid, kernel, stride, groups=mid, activation=silu(ttnn))
    w = weights(ttnn, torch, device)
    squeeze, squeeze_b, excite, excite_b = w(mid, small), w(1, small), w(small, mid), w(1, mid)
    project = conv(ttnn, torch, device, mid, cout, 1)

    def run(x, batch, h, w):
        given = ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG) if stride == 1 and cin == cout else None
        if widen:
            x, h, w = widen(x, batch, h, w)
        x, h, w = depth(x, batch, h, w)
        x = ttnn.sharded_to_interleaved(x, ttnn.L1_MEMORY_CONFIG)
        s = ttnn.mean(ttnn.reshape(x, (batch, 1, h * w, mid)), dim=2, keepdim=True)
        s = ttnn.linear(s, squeeze, bias=squeeze_b, activation="silu")
        s = ttnn.linear(s, excite, bias=excite_b)
        s = ttnn.sigmoid(s)
        y = ttnn.multiply(x, s, memory_config=ttnn.L1_MEMORY_CONFIG)
        ttnn.deallocate(x), ttnn.deallocate(s)
        y, h, w = project(y, batch, h, w)
        if given is not None:
            y = ttnn.sharded_to_interleaved(y, ttnn.L1_MEMORY_CONFIG)
            y = ttnn.add(y, given, memory_config=ttnn.L1_MEMORY_CONFIG)
            ttnn.deallocate(given)
        return y, h, w

    return run


@model("mbconv_block", l1_small_size=24576)
def mbconv_block(ttnn, torch, device):
    """Stem and two MBConv blocks at 112x112."""
    stem = conv(ttnn, torch, device, 3, 32, 3, 2, activation=silu(ttnn))
    first, second = mbconv(ttnn, torch, device, 32, 16, 1, 3, 1), mbconv(ttnn, torch, device, 16, 24, 6, 3, 2)
    picture = torch.randn(1, 1, 224 * 224, 3)

    def forward():
        x = ttnn.from_torch(picture, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
        x, h, w = stem(x, 1, 224, 224)
        x, h, w = first(x, 1, h, w)
        x, h, w = second(x, 1, h, w)
        return x

    return forward


EFFICIENTNET_B0 = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))


def efficientnet(ttnn, torch, device, stages, size, head=1280, classes=1000):
    stem = conv(ttnn, torch, device, 3, 32, 3, 2, activation=silu(ttnn))
    blocks, channels = [], 32
    for expand, out, repeats, stride, kernel in stages:
        for i in range(repeats):
            blocks.append(mbconv(ttnn, torch, device, channels, out, expand, kernel, stride if i == 0 else 1))
            channels = out
    last = conv(ttnn, torch, device, channels, head, 1, activation=silu(ttnn))
    w = weights(ttnn, torch, device)
    fc, fc_b = w(head, classes), w(1, classes)
    picture = torch.randn(1, 1, size * size, 3)

    def forward():
        x = ttnn.from_torch(picture, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
        x, h, wd = stem(x, 1, size, size)
        for block in blocks:
            x, h, wd = block(x, 1, h, wd)
        x, h, wd = last(x, 1, h, wd)
        x = ttnn.sharded_to_interleaved(x, ttnn.L1_MEMORY_CONFIG)
        x = ttnn.mean(ttnn.reshape(x, (1, 1, h * wd, head)), dim=2, keepdim=True)
        return ttnn.linear(x, fc, bias=fc_b)

    return forward


@model("efficientnet_b0", l1_small_size=24576)
def efficientnet_b0(ttnn, torch, device):
    """EfficientNet-B0, 224x224, own text: stem, 16 MBConv blocks, head, classifier."""
    return efficientnet(ttnn, torch, device, EFFICIENTNET_B0, 224)


def bottleneck(ttnn, torch, device, cin, mid, stride, shard):
    """ResNet's block with sharded activations, bfloat8_b weights and a fused ReLU behind the sum."""
    make = lambda *a, **k: conv(ttnn, torch, device, *a, shard=shard, dtype=ttnn.bfloat8_b, **k)
    one, two, three = make(cin, mid, 1, activation=relu(ttnn)), make(mid, mid, 3, stride, activation=relu(ttnn)), make(mid, 4 * mid, 1)
    short = make(cin, 4 * mid, 1, stride) if stride != 1 or cin != 4 * mid else None

    def run(x, batch, h, w):
        keep = ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG)
        y, h1, w1 = one(x, batch, h, w)
        y, h1, w1 = two(y, batch, h1, w1)
        y, h1, w1 = three(y, batch, h1, w1)
        if short:
            keep, _, _ = short(keep, batch, h, w)
        if keep.memory_config() != y.memory_config():
            keep = ttnn.to_memory_config(keep, y.memory_config())
        out = ttnn.add(y, keep, activations=[relu(ttnn)], memory_config=y.memory_config())
        ttnn.deallocate(y), ttnn.deallocate(keep)
        return out, h1, w1

    return run


def resnet(ttnn, torch, device, stages, batch, size, classes=1000):
    H, B = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED
    stem = conv(ttnn, torch, device, 3, 64, 7, 2, activation=relu(ttnn), shard=H, dtype=ttnn.bfloat8_b)
    blocks, channels = [], 64
    for i, (mid, repeats) in enumerate(stages):
        for j in range(repeats):
            blocks.append(bottleneck(ttnn, torch, device, channels, mid, 2 if i and not j else 1, (H, H, B, B)[i]))
            channels = 4 * mid
    w = weights(ttnn, torch, device)
    fc, fc_b = w(channels, classes, dtype=ttnn.bfloat8_b), w(1, classes)
    picture = torch.randn(1, 1, batch * size * size, 3)

    def forward():
        x = ttnn.from_torch(picture, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
        x, h, wd = stem(x, batch, size, size)
        x = ttnn.max_pool2d(x, batch_size=batch, input_h=h, input_w=wd, channels=64, kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], dilation=[1, 1])
        h, wd = h // 2, wd // 2
        for block in blocks:
            x, h, wd = block(x, batch, h, wd)
        x = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
        x = ttnn.mean(ttnn.reshape(x, (batch, 1, h * wd, channels)), dim=2, keepdim=True)
        x = ttnn.reshape(x, (1, 1, batch, channels))
        return ttnn.linear(x, fc, bias=fc_b, memory_config=ttnn.L1_MEMORY_CONFIG)

    return forward


@model("resnet_bottleneck", l1_small_size=24576)
def resnet_bottleneck(ttnn, torch, device):
    """ResNet stem, pooling and the three height-sharded bottlenecks of the first stage, batch 2."""
    return resnet(ttnn, torch, device, ((64, 3),), 2, 224)


def llama(ttnn, torch, device, layers, width, heads, kv, inner, vocabulary, length, most, dtype=None):
    """A Llama decoder: prefill of `length` tokens into the key/value cache, then one decoding step. Returns both logits."""
    w = weights(ttnn, torch, device)
    dtype = dtype or ttnn.bfloat8_b
    head = width // heads
    put = lambda t, d, layout=ttnn.TILE_LAYOUT: ttnn.from_torch(t, dtype=d, layout=layout, device=device)
    words = w(vocabulary, width, layout=ttnn.ROW_MAJOR_LAYOUT)
    stack = [
        dict(n1=w(1, width), qkv=w(width, (heads + 2 * kv) * head, dtype=dtype), out=w(heads * head, width, dtype=dtype), n2=w(1, width),
             gate=w(width, inner, dtype=dtype), up=w(width, inner, dtype=dtype), down=w(inner, width, dtype=dtype),
             keys=put(torch.zeros(1, kv, most, head), dtype), values=put(torch.zeros(1, kv, most, head), dtype))
        for _ in range(layers)
    ]
    norm, vocabulary_head = w(1, width), w(width, vocabulary, dtype=dtype)
    cos, sin = put(torch.ones(1, 1, length, head), ttnn.bfloat16), put(torch.zeros(1, 1, length, head), ttnn.bfloat16)
    turn = put(torch.eye(32).reshape(1, 1, 32, 32), ttnn.bfloat16)
    ids, following = torch.randint(0, vocabulary, (1, length), dtype=torch.int32), torch.tensor([[7]], dtype=torch.int32)
    l1 = ttnn.L1_MEMORY_CONFIG
    hifi = ttnn.init_device_compute_kernel_config(device.arch(), math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=True, fp32_dest_acc_en=False, packer_l1_acc=True)

    def feed_forward(p, x, place):
        n = ttnn.rms_norm(x, weight=p["n2"], epsilon=1e-5, memory_config=place)
        gate = ttnn.linear(n, p["gate"], activation="silu", memory_config=place, compute_kernel_config=hifi)
        up = ttnn.linear(n, p["up"], memory_config=place, compute_kernel_config=hifi)
        ttnn.deallocate(n)
        both = ttnn.multiply(gate, up, memory_config=place)
        ttnn.deallocate(gate), ttnn.deallocate(up)
        down = ttnn.linear(both, p["down"], memory_config=place, compute_kernel_config=hifi)
        ttnn.deallocate(both)
        y = ttnn.add(x, down, memory_config=place)
        ttnn.deallocate(down), ttnn.deallocate(x)
        return y

    def prefill():
        tokens = put(ids, ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
        x = ttnn.unsqueeze_to_4D(ttnn.embedding(tokens, words, layout=ttnn.TILE_LAYOUT))
        for p in stack:
            n = ttnn.rms_norm(x, weight=p["n1"], epsilon=1e-5)
            qkv = ttnn.linear(n, p["qkv"], compute_kernel_config=hifi)
            ttnn.deallocate(n)
            q, k, v = ttnn.experimental.nlp_create_qkv_heads(qkv, num_heads=heads, num_kv_heads=kv, transpose_k_heads=False)
            ttnn.deallocate(qkv)
            q = ttnn.experimental.rotary_embedding_llama(q, cos, sin, turn, is_decode_mode=False)
            k = ttnn.experimental.rotary_embedding_llama(k, cos, sin, turn, is_decode_mode=False)
            k8, v8 = ttnn.typecast(k, dtype), ttnn.typecast(v, dtype)
            ttnn.fill_cache(p["keys"], k8, 0)
            ttnn.fill_cache(p["values"], v8, 0)
            a = ttnn.transformer.scaled_dot_product_attention(q, k8, v8, is_causal=True)
            for t in (q, k, v, k8, v8):
                ttnn.deallocate(t)
            merged = ttnn.experimental.nlp_concat_heads(a)
            ttnn.deallocate(a)
            out = ttnn.linear(merged, p["out"], compute_kernel_config=hifi)
            ttnn.deallocate(merged)
            h = ttnn.add(x, out)
            ttnn.deallocate(out), ttnn.deallocate(x)
            x = feed_forward(p, h, ttnn.DRAM_MEMORY_CONFIG)
        x = ttnn.slice(x, [0, 0, length - 32, 0], [1, 1, length, width])
        x = ttnn.rms_norm(x, weight=norm, epsilon=1e-5)
        return ttnn.linear(x, vocabulary_head)

    def decode():
        place = ttnn.create_sharded_memory_config((32, head), core_grid=ttnn.CoreGrid(y=1, x=1), strategy=ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True)
        row = torch.ones(1, 1, 1, head)
        c, s = (ttnn.interleaved_to_sharded(put(row, ttnn.bfloat16), place) for _ in range(2))
        t = ttnn.interleaved_to_sharded(turn, ttnn.create_sharded_memory_config((32, 32), core_grid=ttnn.CoreGrid(y=1, x=1), strategy=ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True))
        tokens = put(following, ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
        x = ttnn.unsqueeze_to_4D(ttnn.embedding(tokens, words, layout=ttnn.TILE_LAYOUT, memory_config=l1))
        for p in stack:
            n = ttnn.rms_norm(x, weight=p["n1"], epsilon=1e-5, memory_config=l1)
            qkv = ttnn.linear(n, p["qkv"], memory_config=l1, compute_kernel_config=hifi)
            ttnn.deallocate(n)
            q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(qkv, num_heads=heads, num_kv_heads=kv, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG)
            ttnn.deallocate(qkv)
            q = ttnn.experimental.rotary_embedding_llama(q, c, s, t, is_decode_mode=True)
            k = ttnn.experimental.rotary_embedding_llama(k, c, s, t, is_decode_mode=True)
            ttnn.experimental.paged_update_cache(p["keys"], k, update_idxs=[length])
            ttnn.experimental.paged_update_cache(p["values"], v, update_idxs=[length])
            ttnn.deallocate(k), ttnn.deallocate(v)
            a = ttnn.transformer.scaled_dot_product_attention_decode(q, p["keys"], p["values"], cur_pos=[length], memory_config=l1)
            ttnn.deallocate(q)
            a = ttnn.to_memory_config(a, ttnn.create_sharded_memory_config((32, head), core_grid=ttnn.CoreGrid(y=1, x=1), strategy=ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True))
            merged = ttnn.experimental.nlp_concat_heads_decode(a, num_heads=heads)
            merged = ttnn.to_memory_config(merged, l1)
            merged = ttnn.slice(merged, [0, 0, 0, 0], [1, 1, 1, width])  # the op pads the users to 32
            out = ttnn.linear(merged, p["out"], memory_config=l1, compute_kernel_config=hifi)
            ttnn.deallocate(merged), ttnn.deallocate(a)
            h = ttnn.add(x, out, memory_config=l1)
            ttnn.deallocate(out), ttnn.deallocate(x)
            x = feed_forward(p, h, l1)
        x = ttnn.rms_norm(x, weight=norm, epsilon=1e-5, memory_config=l1)
        return ttnn.linear(x, vocabulary_head)

    return lambda: [prefill(), decode()]


@model("resnet50_refused", l1_small_size=24576)
def resnet50_refused(ttnn, torch, device):
    """ResNet-50 in the same style, batch 2: the last stage does not fit into L1 and is refused."""
    return resnet(ttnn, torch, device, ((64, 3), (128, 4), (256, 6), (512, 3)), 2, 224)


@model("llama_tiny")
def llama_tiny(ttnn, torch, device):
    """Llama-class decoder, own text: 4 layers, width 512, 8 heads over 2 key/value heads, 128 tokens, then one step."""
    return llama(ttnn, torch, device, 4, 512, 8, 2, 1536, 4096, 128, 256)


@model("attention_block")
def attention_block(ttnn, torch, device):
    """One encoder layer of BERT-base sizes, batch 8, 384 tokens, block-sharded: sharded norm, matmul program configs, fused softmax."""
    w = weights(ttnn, torch, device)
    batch, length, width, heads = 8, 384, 768, 12
    grid = (8, 8)
    bf8 = ttnn.bfloat8_b
    p = dict(qkv=w(width, 3 * width, dtype=bf8), qkv_b=w(1, 3 * width, dtype=bf8), out=w(width, width, dtype=bf8), out_b=w(1, width, dtype=bf8), n1=w(1, width), n1_b=w(1, width),
             up=w(width, 4 * width, dtype=bf8), up_b=w(1, 4 * width, dtype=bf8), down=w(4 * width, width, dtype=bf8), down_b=w(1, width, dtype=bf8), n2=w(1, width), n2_b=w(1, width))
    mask = ttnn.from_torch(torch.zeros(batch, 1, 1, length), dtype=bf8, layout=ttnn.TILE_LAYOUT, device=device)
    given = torch.randn(batch, length, width)
    block = ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG

    def linear(x, weight, bias, n, activation=None):
        tiles = weight.shape[0] // 32 // grid[0]
        config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=grid, in0_block_w=tiles, out_subblock_h=1, out_subblock_w=min(n // 32 // grid[0], 3),
                                                                 per_core_M=batch * length // 32 // grid[1], per_core_N=n // 32 // grid[0], transpose_mcast=False, fused_activation=activation)
        return ttnn.linear(x, weight, bias=bias, memory_config=block, program_config=config, dtype=bf8)

    norm = ttnn.LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=grid, subblock_w=3, block_h=batch * length // 32 // grid[1], block_w=width // 32 // grid[0], inplace=False)
    place = ttnn.create_sharded_memory_config((batch, length, width), core_grid=ttnn.CoreGrid(y=8, x=8), strategy=ttnn.ShardStrategy.BLOCK)

    def forward():
        x = ttnn.from_torch(given, dtype=bf8, layout=ttnn.TILE_LAYOUT, device=device)
        x = ttnn.to_memory_config(x, place)
        qkv = linear(x, p["qkv"], p["qkv_b"], 3 * width)
        qkv = ttnn.to_memory_config(qkv, ttnn.DRAM_MEMORY_CONFIG)
        q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads=heads)
        ttnn.deallocate(qkv)
        scores = ttnn.matmul(q, k, dtype=bf8, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        probs = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=width // heads)
        context = ttnn.matmul(probs, v, dtype=bf8, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        for t in (q, k, v, probs):
            ttnn.deallocate(t)
        merged = ttnn.to_memory_config(ttnn.transformer.concatenate_heads(context), place)
        ttnn.deallocate(context)
        out = linear(merged, p["out"], p["out_b"], width)
        ttnn.deallocate(merged)
        h = ttnn.layer_norm(x, residual_input_tensor=out, weight=p["n1"], bias=p["n1_b"], memory_config=place, program_config=norm)
        ttnn.deallocate(out), ttnn.deallocate(x)
        f = linear(h, p["up"], p["up_b"], 4 * width, ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU))
        g = linear(f, p["down"], p["down_b"], width)
        ttnn.deallocate(f)
        y = ttnn.layer_norm(h, residual_input_tensor=g, weight=p["n2"], bias=p["n2_b"], memory_config=place, program_config=norm)
        ttnn.deallocate(g), ttnn.deallocate(h)
        return ttnn.to_memory_config(y, ttnn.DRAM_MEMORY_CONFIG)

    return forward
