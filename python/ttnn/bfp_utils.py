"""ttnn._ttnn.bfp_utils: tiles of block floats as words, and where pages of shards lie. Needs numpy."""

from ttnn import overlapped
from ttnn._ttnn.tensor import DataType, ShardOrientation
from ttnn.device import get_dram_alignment, get_l1_alignment

_TILE, _FACE = 32, 16
_WORDS = {DataType.BFLOAT8_B: 272, DataType.BFLOAT4_B: 144}  # of a tile


def _rows(values):
    """Tiles in rows from tiles in faces."""
    return values.reshape(-1, 2, 2, _FACE, _FACE).transpose(0, 1, 3, 2, 4).reshape(-1, _TILE, _TILE)


def _packer(dtype):
    pack_tiles = overlapped.tilize_and_pack_bfp8_b if dtype == DataType.BFLOAT8_B else overlapped.tilize_and_pack_bfp4_b

    def pack(input, row_major_input=False, is_exp_a=False):
        """float32, tile after tile, as the words of block floats; tiles are in faces unless they are in rows."""
        import numpy

        if is_exp_a:
            raise RuntimeError("block floats with exponents of 5 bits need a machine with cards")
        values = numpy.ascontiguousarray(input, dtype=numpy.float32).reshape(-1)
        if values.size % (_TILE * _TILE):
            raise RuntimeError(f"{values.size} numbers are no whole tiles")
        tiles = values.reshape(-1, _TILE, _TILE) if row_major_input else _rows(values)
        height = tiles.shape[0] * _TILE
        data = pack_tiles(numpy.ascontiguousarray(tiles.reshape(height, _TILE)), height, _TILE)
        return numpy.frombuffer(bytes(data), dtype=numpy.uint32).copy()

    return pack


def _unpacker(bits, words):
    def unpack(input, row_major_output=False, is_exp_a=False):
        """The numbers again: per sixteen of them a byte of exponent, then sign and mantissa of each."""
        import numpy

        if is_exp_a:
            raise RuntimeError("block floats with exponents of 5 bits need a machine with cards")
        data = numpy.ascontiguousarray(input, dtype=numpy.uint32).reshape(-1)
        if data.size % words:
            raise RuntimeError(f"{data.size} words are no whole tiles of {words}")
        tiles = data.reshape(-1, words).view(numpy.uint8)
        exponents = tiles[:, :64].astype(numpy.int32).repeat(16, axis=1)
        codes = tiles[:, 64:]
        if bits == 4:
            codes = numpy.stack([codes & 15, codes >> 4], axis=-1).reshape(len(tiles), -1)
        codes = codes.astype(numpy.int32)
        sign, mantissa = codes >> (bits - 1), codes & ((1 << (bits - 1)) - 1)
        values = numpy.ldexp(mantissa.astype(numpy.float64), exponents - 127 - (bits - 2))
        values = numpy.where(sign == 1, -values, values).astype(numpy.float32)
        return _rows(values.reshape(-1)).reshape(-1) if row_major_output else values.reshape(-1)

    return unpack


pack_bfp8, pack_bfp4 = _packer(DataType.BFLOAT8_B), _packer(DataType.BFLOAT4_B)
unpack_bfp8, unpack_bfp4 = _unpacker(8, _WORDS[DataType.BFLOAT8_B]), _unpacker(4, _WORDS[DataType.BFLOAT4_B])


def pack_bfp2(*unused, **ignored):
    raise RuntimeError("block floats of two bits need a machine with cards")


unpack_bfp2 = pack_bfp2


def compute_shard_page_mapping(
    tensor_shape, shard_shape, page_height, page_width, core_range_set, shard_orientation, distribution_strategy=None
):
    """Cores with the pages of their shards, in order; shards of two dimensions, dealt out one by one."""
    if len(tensor_shape) != 2 or len(shard_shape) != 2:
        raise RuntimeError("compute_shard_page_mapping: tensors and shards of two dimensions are mapped here")
    import ttnn

    cores = ttnn.corerange_to_cores(core_range_set, None, shard_orientation == ShardOrientation.ROW_MAJOR)
    pages = [-(-extent // page) for extent, page in zip(tensor_shape, (page_height, page_width))]
    shard = [extent // page for extent, page in zip(shard_shape, (page_height, page_width))]
    shards = [-(-total // part) for total, part in zip(pages, shard)]
    found = [[] for _ in cores]
    for number in range(shards[0] * shards[1]):
        down, across = divmod(number, shards[1])
        for y in range(down * shard[0], (down + 1) * shard[0]):
            for x in range(across * shard[1], (across + 1) * shard[1]):
                inside = y < pages[0] and x < pages[1]
                found[number % len(cores)].append(y * pages[1] + x if inside else 2**32 - 1)
    return list(zip(cores, found))
