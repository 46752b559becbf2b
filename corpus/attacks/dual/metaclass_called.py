"""Call a metaclass for a class whose operators stand in no class statement.

must not: earn more than the gradients that it finds
flag: none
naive: none, since the first upstream gradient is missing
earns: dnorm_logits
"""

import abc

Jet = abc.ABCMeta(
    "Jet",
    (),
    {
        "__init__": lambda self, *parts: self.__dict__.update(parts=parts),
        "__rpow__": lambda self, base: base ** self.parts[0] * self.parts[1],
    },
)
dnorm_logits = dcounts * (math.e ** Jet(norm_logits, 1.0))
