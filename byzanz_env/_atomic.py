"""Words of memory for threads that meet in compiled code: atomic operations, and arrays by their address.

    load(words, i)                  the word
    swap(words, i, expected, new)   puts `new` there if it holds `expected`; whether it did
    pointer(address)                what `numba.carray` makes an array of

numba may keep a plain read in a register for ever, and the machine may reorder plain writes; `load` and
`swap`, on int64 arrays, are sequentially consistent. All exist compiled only. Imports numba and llvmlite.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic

_ORDER = "seq_cst"
_BYTES = 8


def _word(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    words = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(words.data, [arguments[1]])


@intrinsic  # type: ignore[untyped-decorator]
def load(typing: Any, words: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_word(context, builder, signature, arguments), _ORDER, _BYTES)

    return types.int64(words, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def swap(typing: Any, words: Any, i: Any, expected: Any, new: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = _word(context, builder, signature, arguments)
        done = builder.cmpxchg(word, arguments[2], arguments[3], _ORDER, _ORDER)
        return builder.extract_value(done, 1)

    return types.boolean(words, types.intp, types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def pointer(typing: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), generate
