"""A worker for the tests: warm, it forks a confined child for each snippet it is handed.

Arguments: where `grader.worker` is; modules to import while warm; whether to leave out the
`filter`. A line of standard input is a JSON object: `code`, and what its names mean. A line of
standard output says what became of it: `result` or `error`, the child's exit `status`.
"""

import importlib
import json
import os
import signal
import sys
from dataclasses import replace

sys.path.insert(0, sys.argv[1])


def say(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


for module in filter(None, sys.argv[2].split(",")):
    importlib.import_module(module)

from grader.worker.confinement import Confinement  # noqa: E402

confinement = Confinement.prepare()
if "filter" in sys.argv[3]:
    confinement = replace(confinement, system_calls=None)
say({"filtered": confinement.system_calls is not None})

for line in sys.stdin.buffer:
    order = json.loads(line)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            confinement.enter(2**30, order["cpu_seconds"], writing)
            try:
                space = dict(order["names"])
                exec(order["code"], space)
                said = {"result": space["result"]}
            except BaseException as error:
                said = {"error": type(error).__name__, "message": str(error)[:300]}
            os.write(writing, json.dumps(said).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    name = signal.Signals(-status).name if status < 0 else status
    said = (json.loads(data) if data else {}) | {"status": name}
    say(said)
