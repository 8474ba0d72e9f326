#!/usr/bin/env python3
"""Writes asyncssh_packets.json: SSH packets that asyncssh encrypted under fixed keys.

Run it with asyncssh 2.24: `pip install asyncssh==2.24 && ./asyncssh_packets.py > asyncssh_packets.json`.
"""

import json
import random

from asyncssh.encryption import get_encryption, get_encryption_params

CTR_MACS = [b"hmac-sha2-256", b"hmac-sha2-512", b"hmac-sha2-256-etm@openssh.com", b"hmac-sha2-512-etm@openssh.com"]
SUITES = [(b"chacha20-poly1305@openssh.com", b""), (b"aes128-gcm@openssh.com", b""), (b"aes256-gcm@openssh.com", b"")]
SUITES += [(cipher, mac) for cipher in (b"aes128-ctr", b"aes256-ctr") for mac in CTR_MACS]
SUITES += [(b"3des-cbc", b"hmac-sha1")]
LENGTHS = [1, 2, 10, 15, 16, 17, 31, 64, 255, 1000]


def packets(cipher, mac, numbers):
    key_len, iv_len, block, mac_key_len, _, etm = get_encryption_params(cipher, mac)
    key, iv, mac_key = (numbers.randbytes(len) for len in (key_len, iv_len, mac_key_len))
    encryption = get_encryption(cipher, key, iv, mac, mac_key, etm)
    # As in SSHConnection.send_packet: the length counts as part of the padded packet unless it is authenticated apart.
    header_len, block = (1 if etm else 5), max(8, block)
    first = 0xFFFFFFFE if cipher.startswith(b"aes128") else 3
    rows = []
    for position, length in enumerate(LENGTHS):
        payload = numbers.randbytes(length)
        padding = -(header_len + length) % block
        if padding < 4:
            padding += block
        packet = bytes([padding]) + payload + numbers.randbytes(padding)
        sequence = (first + position) & 0xFFFFFFFF
        body, tag = encryption.encrypt_packet(sequence, len(packet).to_bytes(4, "big"), packet)
        rows.append({"payload": payload.hex(), "wire": (body + tag).hex()})
    return {
        "cipher": cipher.decode(),
        "mac": mac.decode(),
        "key": key.hex(),
        "mac_key": mac_key.hex(),
        "iv": iv.hex() if not cipher.startswith(b"chacha") else "",
        "sequence": first,
        "packets": rows,
    }


numbers = random.Random(4253)
print(json.dumps([packets(cipher, mac, numbers) for cipher, mac in SUITES], indent=1))
