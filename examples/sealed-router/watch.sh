#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Follows an OpenThread Border Router and publishes what it does, each message sealed to threadkeeper and signed:
# the broker, and whoever listens there, sees no network key.
#
#   watch.sh [--name NAME] [--otbr URL]      and the other options and variables of border-router.sh --help
#
# Once, on this machine:           threadkeeper client keygen --out /etc/threadkeeper/router.key
# once, where threadkeeper runs:   threadkeeper clients enroll ROUTER tk1:… --trust signed
# and threadkeeper's line, which that prints, goes into DAEMON_LINE.
set -eu
script=$(dirname "$0")/border-router.sh
[ -r "$script" ] || script=$(dirname "$0")/../border-router.sh
exec sh "$script" --sealed watch-otbr "$@"
