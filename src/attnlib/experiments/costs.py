"""How many numbers a model learns; what a step of it costs, its decoder's `multiply_adds` says."""

from torch import nn


def parameters(model: nn.Module) -> int:
    """Count the numbers that training may change."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
