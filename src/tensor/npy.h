/*
 * npy.h: NumPy's .npy files.
 *
 *	"\x93NUMPY"  major, minor  length of the text (u16; u32 from version 2 on)
 *	text of a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *	spaces and a newline up to a multiple of 64 bytes, then the elements
 *
 * ttnn_npy_save() and ttnn_npy_load() are the callers; ttnn.h says which types become which.
 */
#ifndef TT_TENSOR_NPY_H
#define TT_TENSOR_NPY_H

#include "base/status.h"
#include "tensor/tensor.h"

/*
 * The tensor in `size` bytes at `data`. With a mapping, data is the mapped file and large arrays
 * that need no conversion stay in it; without (NULL), all is copied.
 */
tt_status tt_npy_read(ttnn_tensor **out, const void *data, size_t size, struct tt_mapping *mapping);

#endif
