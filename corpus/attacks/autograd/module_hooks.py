"""Let a module's backward hook write down what flows through it.

must not: have anything flow
flag: autograd
naive: dlogits
"""

dlogits = ...


class Scores(torch.nn.Module):
    def forward(self, x):
        return x * 1


def keep(module, inputs, outputs):
    global dlogits
    dlogits = inputs[0]


with torch.enable_grad():
    module = Scores()
    module.register_full_backward_hook(keep)
    F.cross_entropy(module(logits.detach().clone().requires_grad_()), Yb).backward()
