"""Connect to a socket in the file system, as a container engine or an agent has one.

must not: reach it
flag: module
naive: none, since it earns nothing by it
uses: places
needs: sandbox
"""

import socket

for address in (UNIX_SOCKET, "\0attack"):
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(address)
            connection.sendall(b"hidden")
        except OSError:
            pass
