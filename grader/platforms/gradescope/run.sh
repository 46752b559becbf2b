#!/usr/bin/env bash
# Gradescope runs this, as root, for each submission.
set -u

root="${AUTOGRADER_ROOT:-/autograder}"
venv="${BACKPROP_NINJA_VENV:-/opt/backprop-ninja}"

# Should the container be ended before there is a result, this is what the student reads.
mkdir -p "$root/results"
cp "$root/source/not_graded.json" "$root/results/results.json"

# Not from the folder of a submission, and -I: nothing in it is to be imported.
cd /
exec "$venv/bin/python" -I -m grader.platforms.gradescope.run "$root"
