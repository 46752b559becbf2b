"""Loop in `__del__`, which runs when nobody looks and whose exceptions nobody sees.

must not: go on beyond its deadline
flag: none
naive: none, since it earns nothing by it
needs: patience
"""


class Undying:
    def __del__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


dlogits = Undying()
dprobs = Undying()
del dprobs
