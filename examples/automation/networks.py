#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks threadkeeper over MQTT for a network's credentials, and says what came: for automations in Python.

    networks.py --daemon tk1:… --username phone                  the preferred network
    networks.py --daemon tk1:… --username phone 1111111122222222 a network by its Extended PAN ID
    networks.py … --dataset                                      its dataset in hex, which is secret

Needs Python 3.9 and the threadkeeper program, which seals the question and opens the answer; no daemon here.
A person has to agree, where the daemon is: `threadkeeper consent approve ID`.
"""

import argparse
import json
import subprocess
import sys


def request(command: str, options: argparse.Namespace, **fields: str) -> dict:
    """What the daemon answers to one question. The question goes through standard input, not the command line."""
    call = ["threadkeeper", "client", "request", command, "--fields", "-", "--daemon", options.daemon]
    for name in ("username", "host", "port", "key", "password_file", "cafile", "base_topic"):
        value = getattr(options, name)
        if value is not None:
            call += ["--" + name.replace("_", "-"), value]
    done = subprocess.run(call, input=json.dumps(fields), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        # It has said why on standard error.
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def main() -> None:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("network", nargs="?", help="Extended PAN ID, 16 hex digits")
    about.add_argument("--dataset", action="store_true", help="print the dataset, which is secret")
    about.add_argument("--daemon", required=True, help="the daemon's enrolment line")
    about.add_argument("--username", required=True, help="the login that is enrolled")
    for name in ("host", "port", "key", "password-file", "cafile", "base-topic"):
        about.add_argument("--" + name, help="as of `threadkeeper client request`")
    options = about.parse_args()

    print("Waiting for somebody to agree…", file=sys.stderr)
    if options.network:
        answer = request("network/get", options, ext_pan_id=options.network)
    else:
        answer = request("preferred/get", options)
    for network in answer["credentials"]:
        if options.dataset:
            print(network["dataset"])
        else:
            print(f"{network['network_name']} ({network['ext_pan_id']}), channel {network['channel']}")


if __name__ == "__main__":
    main()
