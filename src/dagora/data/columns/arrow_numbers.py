"""Numbers of an Arrow column as an array of numpy.

Arrow's own conversion imports pandas wherever that is installed, which takes half a second; the exchange by
DLPack does not, but knows neither nulls nor single bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def numbers_of(column: pa.ChunkedArray | pa.Array) -> NDArray[Any]:
    """The numbers of a column, which may not be written to; a null becomes NaN.

    >>> import pyarrow as pa
    >>> numbers_of(pa.chunked_array([[1.5], [2.5]])), numbers_of(pa.array([1.0, None]))
    (array([1.5, 2.5]), array([ 1., nan]))
    """
    chunks = getattr(column, "chunks", [column])
    if column.null_count or not chunks:
        return np.asarray(column)
    parts = [np.from_dlpack(chunk) for chunk in chunks]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def truths_of(column: pa.ChunkedArray | pa.Array) -> NDArray[np.bool_]:
    """The truth values of a column; a null is not true.

    >>> import pyarrow as pa
    >>> truths_of(pa.array([1, None]).is_null()), truths_of(pa.array([True, None]))
    (array([False,  True]), array([ True, False]))
    """
    known = column.fill_null(False) if column.null_count else column
    return numbers_of(known.cast("uint8")).astype(np.bool_)
