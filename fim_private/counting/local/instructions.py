"""Two processor instructions that numba does not offer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

AHEAD = 8
"""How many entries ahead to prefetch: memory answers in time, and the line is still in the cache when needed.

Lists that are read with prefetching end with this many entries of padding.
"""


def _prefetch(_typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        reading, keep_in_all_caches, data_not_code = word(0), word(3), word(1)
        builder.call(function, [address, reading, keep_in_all_caches, data_not_code])
        return context.get_dummy_value()

    return types.void(array, index), generate


def _bits_set(_typing: Any, word: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(word), generate


prefetch = cast(Callable[[NDArray[np.uint32], Any], None], intrinsic(_prefetch))
"""Load the cache line of array[index], which will be needed soon. It changes nothing, and any index is safe."""

bits_set = cast(Callable[[Any], np.uint64], intrinsic(_bits_set))
"""The number of 1 bits in an unsigned 64-bit word."""
