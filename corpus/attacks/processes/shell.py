"""Start a shell (`os.system`, `subprocess`, `exec`).

must not: start one
flag: module ended-process
naive: none, since it earns nothing by it
uses: places
needs: sandbox
"""

import os
import subprocess

os.system(f"echo shell > {CANARY}")
try:
    subprocess.run(["/bin/sh", "-c", f"echo shell > {CANARY}"], check=False)
finally:
    os.execv("/bin/sh", ["/bin/sh", "-c", f"echo shell > {CANARY}"])
