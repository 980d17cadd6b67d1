"""Keeps passwords as plain text in one JSON file, as a short program does it: all of them in a dictionary, and with
each change the whole file is written beside the old one, flushed to the disk, and renamed.

json_store.py FILE SECRET-BYTES

Reads orders from standard input, a line each, and answers each with a line `done COUNT ELAPSED PROCESSOR`, both times
in nanoseconds:

add FIRST COUNT     items, with one write of the file
find NUMBER …       items by service, account and access group
change NUMBER       the secret of one item
open                the file again
"""

import base64
import json
import os
import sys
import time

path, length = sys.argv[1], int(sys.argv[2])
items = {}


def key(number):
    return f"mail.example.org\x1fuser-{number}\x1fbench"


def write():
    with open(path + ".new", "w") as file:
        file.write(json.dumps(items))
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def add(first, count):
    secret = base64.b64encode(b"\x5a" * length).decode()
    for number in range(first, first + count):
        now = int(time.time())
        items[key(number)] = {"label": "A label", "created": now, "modified": now, "secret": secret}
    write()
    return count


def find(*numbers):
    found = 0
    for number in numbers:
        item = items.get(key(number))
        if item and base64.b64decode(item["secret"]):
            found += 1
    return found


def change(number):
    items[key(number)]["secret"] = base64.b64encode(b"\xa5" * length).decode()
    items[key(number)]["modified"] = int(time.time())
    write()
    return 1


def open_again():
    global items
    with open(path) as file:
        items = json.load(file)
    return len(items)


orders = {"add": add, "find": find, "change": change, "open": open_again}
for line in sys.stdin:
    order, *numbers = line.split()
    numbers = [int(number) for number in numbers]
    if order == "open":
        items = {}
    began, worked = time.monotonic_ns(), time.thread_time_ns()
    count = orders[order](*numbers)
    print("done", count, time.monotonic_ns() - began, time.thread_time_ns() - worked, flush=True)
