#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads 64-bit numbers that a real-time task puts into a FIFO: fifo.py /dev/rtf0 [COUNT]"""

import struct
import sys


def numbers(fifo):
    """Waits for data; what was put as a whole is read as a whole."""
    while data := fifo.read(4096):
        yield from (number for number, in struct.iter_unpack("q", data))


def main():
    path, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with open(path, "rb", buffering=0) as fifo:
        read = [number for number, _ in zip(numbers(fifo), range(count))]
    print(f"{path}: {len(read)} numbers, {min(read)} to {max(read)}")


main()
