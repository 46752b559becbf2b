"""Read a file that only the grader's own user may read, and run what it says.

must not: read it
flag: denied dunder
naive: dlogits
uses: places
needs: sandbox
"""

exec(open(SECRET).read())
