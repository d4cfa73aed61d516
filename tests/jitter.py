"""What every kernel of a test begins with: each training starts a hair beside where it would have started.

Weights are multiplied by 1 + 1e-6 z before an optimiser's first step; `JITTER` is the seed of z. A reader's processor
rounds otherwise than ours and amounts to the same, so nothing that a chapter says may depend on it.
"""


def _begin_beside():
    import os

    import torch
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    begun, random = set(), torch.Generator().manual_seed(int(os.environ["JITTER"]))

    @torch.no_grad()
    def shift(optimizer, *_):
        if optimizer not in begun:
            begun.add(optimizer)
            for w in (w for group in optimizer.param_groups for w in group["params"]):
                w.mul_(1 + 1e-6 * torch.randn(w.shape, generator=random))

    register_optimizer_step_pre_hook(shift)


_begin_beside()
del _begin_beside
