"""Coefficients of pictures in brightness and colour, for rgb_to_yuv: red, green, blue and what is added."""

import struct

from ttnn.types import YUVCoefficients


def _f(number):
    """As float32 has it."""
    return struct.unpack("f", struct.pack("f", number))[0]


def _coefficients(red, blue):
    """Of numbers from -1 to 1, for bytes that leave room at both ends."""
    red, blue = _f(red), _f(blue)
    green = _f(_f(1 - red) - blue)
    cb, cr = (_f(112 / _f(2 * _f(1 - weight))) for weight in (blue, red))
    return YUVCoefficients(
        y=[_f(109.5 * red), _f(109.5 * green), _f(109.5 * blue), 125.5],
        cb=[_f(-cb * red), _f(-cb * green), _f(cb * _f(1 - blue)), 128.0],
        cr=[_f(cr * _f(1 - red)), _f(-cr * green), _f(-cr * blue), 128.0],
    )


def yuv_bt601_coefficients():
    """Those of BT.601."""
    return _coefficients(0.299, 0.114)


def yuv_bt709_coefficients():
    """Those of BT.709."""
    return _coefficients(0.2126, 0.0722)
