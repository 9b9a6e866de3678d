"""Where the smooth path is followed: on the processor, or on a GPU that JAX sees (the option `device`)."""

from __future__ import annotations

from dagora.base.wording import setting
from dagora.learners.optimise.path.path_on_gpu import PathOnGpu, find_gpu, is_out_of_memory, require_gpu
from dagora.learners.optimise.path.path_on_processor import PathOnProcessor
from dagora.learners.optimise.path.smooth_path import EXACT_TO, PathProgram, follow_path
from dagora.learners.optimise.path.workers import Workers
from dagora.learners.run import Run
from dagora.scores.lasso_kernels import Matrix

DEVICES = ("auto", "cpu", "gpu")
# With `auto`, tables of more columns than this go to a GPU. Compiling for it takes seconds.
WORTH_A_GPU = 1000


def path_on_device(
    program: PathProgram, run: Run, workers: Workers, device: str
) -> tuple[Matrix, int, tuple[str, ...]]:
    """Weights at the end of the path, the number of steps, and warnings.

    Up to `EXACT_TO` variables the path is followed on the processor in any case.
    """
    gpu = None
    if device == "gpu":
        gpu = require_gpu()
    elif device == "auto" and len(program) > WORTH_A_GPU:
        gpu = find_gpu()
    warnings: tuple[str, ...] = ()
    if gpu is not None and len(program) > EXACT_TO:
        from jax.errors import JaxRuntimeError

        try:
            return *follow_path(PathOnGpu(program, gpu), run), ()
        except JaxRuntimeError as error:
            if not is_out_of_memory(error):
                raise
        said = (
            f"the GPU has too little memory for {len(program)} columns, so the path was followed on the "
            f"processor instead; {setting('device', 'cpu')} does so at once"
        )
        warnings = (said,)
    return *follow_path(PathOnProcessor(program, workers), run), warnings
