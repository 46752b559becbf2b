#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image.
set -euo pipefail

source="${AUTOGRADER_ROOT:-/autograder}/source"
venv="${BACKPROP_NINJA_VENV:-/opt/backprop-ninja}"
# Where PyTorch's wheels without CUDA are: the others are gigabytes that no autograder uses.
cpu_wheels=""
if [ -f "$source/torch-index.txt" ]; then
    cpu_wheels="$(cat "$source/torch-index.txt")"
fi

is_fit() { # Python 3.11 or newer, with venv, that the account which runs answers may run as well
    setpriv --reuid=65534 --regid=65534 --clear-groups -- \
        "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -qy --no-install-recommends ca-certificates bubblewrap util-linux

python=""
for candidate in python3 python3.13 python3.12 python3.11; do
    if ! is_fit "$candidate"; then
        # Ubuntu 22.04 has 3.11 beside its own 3.10. Not there: the next one.
        apt-get install -qy --no-install-recommends "$candidate" "$candidate-venv" || continue
    fi
    if is_fit "$candidate"; then
        python="$candidate"
        break
    fi
done
if [ -z "$python" ]; then
    echo "Python 3.11 or newer, for every account, is not to be had in this base image: choose" \
        "Ubuntu 22.04 or newer." >&2
    exit 1
fi

"$python" -m venv "$venv"
wheel="$(echo "$source"/backprop_ninja-*.whl)"
"$venv/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check \
    ${cpu_wheels:+--extra-index-url "$cpu_wheels"} \
    --constraint "$source/constraints.txt" "$wheel[grade]"

# Answers may run under another account: it needs the worker, and none of the files with formulas.
for folder in grader makemore_data; do
    find "$venv"/lib/python*/site-packages/"$folder" -mindepth 1 -maxdepth 1 \
        ! -path '*/grader/worker' ! -path '*/grader/__init__.py' -exec chmod -R go= {} +
done

# A broken image should be noticed now, and not at the first submission.
cd /
"$venv/bin/python" -I -c 'import grader.classroom.run.warm_worker, grader.platforms.gradescope.run'
