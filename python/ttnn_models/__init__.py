"""Whole networks as they are written for Tenstorrent's chips, behind the tests of a workspace (docs/models.md).

    rows        published sizes, one row for each name that HF_MODEL may have
    machine     the mesh that a row wants, dry runs, what is too large to compute
    weights     random or from a folder of safetensors, to the chips that need them
    grids       core grids, shardings and program configurations by rule
    decoder     Llama-class decoders: prefill, paged caches, sharded decoding
    vision      towers that read pictures
    convolution, efficientnet, resnet50, distilbert, mnist
    reference   the same networks in float32, in torch or in ttnn's plain operations
    text_demo, options   what the tests of a workspace share
"""
