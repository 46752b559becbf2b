"""Open raw, packet and netlink sockets.

must not: get one that sees the machine's network
flag: module
naive: none, since it earns nothing by it
uses: places
needs: sandbox
"""

import socket

for family, kind in ((socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_RAW), (16, socket.SOCK_RAW)):
    try:
        socket.socket(family, kind)
    except OSError:
        continue
    open(CANARY, "a").write(f"{family} {kind}")
