"""What pooling, resizing and sampling must give, in torch. Pools take and give (1, 1, N * H * W, C), the others NHWC."""


def _image(tensor, batch_size, input_h, input_w, channels):
    return tensor.reshape(batch_size, input_h, input_w, channels).permute(0, 3, 1, 2)


def _flat(image):
    return image.permute(0, 2, 3, 1).reshape(1, 1, -1, image.shape[1])


def _sides(image, padding, fill):
    """(image, padding for torch): sides that differ (top, bottom, left, right) are padded here."""
    import torch

    if len(padding) == 2:
        return image, tuple(padding)
    top, bottom, left, right = padding
    if top == bottom and left == right:
        return image, (top, left)
    return torch.nn.functional.pad(image, (left, right, top, bottom), value=fill), (0, 0)


def golden_maxpool2d(
    input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding, dilation, ceil_mode=False, return_indices=False, **unused
):
    import torch

    image, around = _sides(_image(input_tensor, batch_size, input_h, input_w, channels), padding, float("-inf"))
    found = torch.nn.functional.max_pool2d(image, kernel_size, stride, around, dilation, ceil_mode, return_indices=True)
    return tuple(map(_flat, found)) if return_indices else _flat(found[0])


def golden_avg_pool2d(
    input_tensor,
    batch_size,
    input_h,
    input_w,
    channels,
    kernel_size,
    stride,
    padding,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
    **unused,
):
    import torch

    image, around = _sides(_image(input_tensor, batch_size, input_h, input_w, channels), padding, 0)
    return _flat(torch.nn.functional.avg_pool2d(image, kernel_size, stride, around, ceil_mode, count_include_pad, divisor_override))


def golden_adaptive_avg_pool2d(input_tensor, batch_size, input_h, input_w, channels, output_size, **unused):
    import torch

    return _flat(torch.nn.functional.adaptive_avg_pool2d(_image(input_tensor, batch_size, input_h, input_w, channels), output_size))


def golden_adaptive_max_pool2d(input_tensor, batch_size, input_h, input_w, channels, output_size, **unused):
    import torch

    return _flat(torch.nn.functional.adaptive_max_pool2d(_image(input_tensor, batch_size, input_h, input_w, channels), output_size))


def golden_global_avg_pool2d(input_tensor):
    return input_tensor.mean((1, 2), keepdim=True)


def golden_upsample(input_tensor, scale_factor, mode="nearest", **unused):
    import torch

    factors = tuple(scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor, scale_factor)
    return torch.nn.functional.interpolate(input_tensor.permute(0, 3, 1, 2), scale_factor=factors, mode=mode).permute(0, 2, 3, 1)


def golden_grid_sample(
    input_tensor,
    grid,
    mode="bilinear",
    padding_mode="zeros",
    align_corners=False,
    batch_output_channels=False,
    grid_batching_factor=None,
    **unused,
):
    """Places of a grid may lie side by side in its last dimension; their answers then do so in channels, or in columns."""
    import torch

    batch, rows, columns, last = grid.shape
    places = grid.reshape(batch, rows, columns * last // 2, 2).float()
    image = input_tensor.permute(0, 3, 1, 2).float()
    found = torch.nn.functional.grid_sample(image, places, mode, padding_mode, align_corners)
    found = found.permute(0, 2, 3, 1).to(input_tensor.dtype)
    together = grid_batching_factor if grid_batching_factor is not None else last // 2
    if not batch_output_channels:
        return found
    return found.reshape(batch, rows, places.shape[2] // together, found.shape[3] * together)


def golden_rotate(input_tensor, angle, center=None, fill=0.0, expand=False, interpolation_mode="nearest", **unused):
    """Pixels of the image in the places where those of the result come from. Middles of pixels are whole numbers; a center that is given counts from corners."""
    import torch

    image = input_tensor.permute(0, 3, 1, 2).float()
    height, width = image.shape[2:]
    turn = torch.deg2rad(torch.tensor(float(angle), dtype=torch.float64))
    x0, y0 = (center[0] - 0.5, center[1] - 0.5) if center is not None else ((width - 1) / 2, (height - 1) / 2)
    dy, dx = torch.meshgrid(torch.arange(height) - y0, torch.arange(width) - x0, indexing="ij")
    x, y = dx * turn.cos() - dy * turn.sin() + x0, dx * turn.sin() + dy * turn.cos() + y0
    places = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1).float().expand(image.shape[0], -1, -1, -1)
    found = torch.nn.functional.grid_sample(image - fill, places, interpolation_mode, "zeros", False) + fill
    return found.permute(0, 2, 3, 1).to(input_tensor.dtype)
