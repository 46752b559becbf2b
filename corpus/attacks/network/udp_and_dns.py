"""Send a datagram, and ask for a name whose labels carry a message.

must not: have one leave
flag: module
naive: none, since it earns nothing by it
uses: places
needs: sandbox
"""

import socket

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.sendto(b"hidden", ("127.0.0.1", UDP_PORT))
    sender.sendto(b"\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06hidden\x00\x00\x01\x00\x01", ("127.0.0.1", UDP_PORT))
