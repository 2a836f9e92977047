"""Names for the array types that pass between the parts."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
IndexArray = NDArray[np.int32]
UIntArray = NDArray[np.uint64]
BoolArray = NDArray[np.bool_]
