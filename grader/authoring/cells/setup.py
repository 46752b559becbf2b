# @title Set-up: run this cell first (on Colab it installs the course, which takes a minute)
import sys
from importlib.util import find_spec

if "google.colab" in sys.modules and not find_spec("grader"):
    print("Installing the course ...")
    # !pip install --quiet "backprop-ninja @ git+{{ repository }}"

from grader import start_lesson  # not found? Run the !pip line above in a cell of its own.

# This starts the process that will run your answers, and notes which cells you run.
start_lesson(notebook="{{ notebook }}")
print("Ready.")
