"""What the package's tests share: arrays of both libraries, and errors as readers meet them."""

from collections.abc import Callable
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from hypothesis import settings

settings.register_profile("package", settings.default, derandomize=True, deadline=None, database=None)
settings.load_profile("package")


@pytest.fixture(scope="session", params=["numpy", "torch"])
def library(request) -> Callable[[Any], Any]:
    """Turn a NumPy array, or lists of numbers, into an array of each library."""
    return {"numpy": np.array, "torch": lambda x: torch.from_numpy(np.array(x))}[request.param]


@pytest.fixture(scope="session")
def refused() -> Callable[..., None]:
    """Check what a call is refused with: a ValueError that says so, or, after "TypeError: ", a TypeError.

    The hook that checks types and shapes is switched off.
    """

    def check(call: Callable[[], Any], says: str) -> None:
        error = TypeError if says.startswith("TypeError: ") else ValueError
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
            with pytest.raises(error, match=says.removeprefix("TypeError: ")) as raised:
                call()
        assert raised.type is error

    return check
