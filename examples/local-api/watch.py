#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows how threadkeeper is, now and whenever that changes. Usage: watch.py SOCKET [NUMBER OF LINES]"""
import sys
import varlink

lines = int(sys.argv[2]) if len(sys.argv) > 2 else None
with varlink.Client(address="unix:" + sys.argv[1]) as client:
    with client.open("io.threadkeeper.Status") as api:
        for number, reply in enumerate(api.Watch(_more=True), 1):
            status = reply["status"]
            print(status["broker"]["state"], status["routers"], status["alerts"], flush=True)
            if number == lines:
                break
