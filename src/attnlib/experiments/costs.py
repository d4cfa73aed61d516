"""How many numbers a model learns; its decoder's `multiply_adds` says what a step costs."""

from torch import nn


def parameters(model: nn.Module) -> int:
    """Count the numbers that training may change."""
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
