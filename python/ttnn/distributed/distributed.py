"""The names of ttnn.distributed where upstream's programs look for them, too."""

from ttnn.distributed import *  # noqa: F403
