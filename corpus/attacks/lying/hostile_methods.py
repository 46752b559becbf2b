"""Hand in an object whose every special method never ends or raises.

must not: run outside of its time limit
flag: dunder
naive: none, since nothing is compared
needs: patience
"""


class Hostile:
    def trap(self, *_):
        try:
            while True:
                pass
        except BaseException:
            raise KeyboardInterrupt from None

    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __format__ = trap
    __getattribute__ = trap


dlogits = Hostile()
