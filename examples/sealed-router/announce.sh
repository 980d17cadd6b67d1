#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Publishes one event of a border router, sealed to threadkeeper and signed: the broker, and whoever listens there,
# sees no network key. `threadkeeper agent otbr` does it all the time for an OpenThread Border Router.
#
# Needs what border-router.sh --sealed needs; that script does the work.
#
# Once, on this machine:           threadkeeper client keygen --out /etc/threadkeeper/router.key
# once, where threadkeeper runs:   threadkeeper clients enroll ROUTER tk1:… --trust signed
# and threadkeeper's line, which that prints, goes into DAEMON_LINE.
set -eu

usage() {
  cat <<'END'
Usage: announce.sh announce|dataset|leave|heartbeat|offline ID [NAME] [< DATASET]

  ID       the border agent id, 16 or 32 hex digits
  NAME     what people call the router
  DATASET  its TLVs in hex, on standard input; of announce and dataset

Variables
  DAEMON_LINE, CLIENT_KEY, MQTT_USERNAME and the others of border-router.sh --help

Example
  sudo ot-ctl dataset active -x | announce.sh announce a1b2c3d4e5f60718 'Living room'
END
}

case ${1:-}:$# in
  -h:* | --help:*) usage && exit 0 ;;
  *:2 | *:3) ;;
  *) usage >&2 && exit 64 ;;
esac
script=$(dirname "$0")/border-router.sh
[ -r "$script" ] || script=$(dirname "$0")/../border-router.sh
event=$1 id=$2 name=${3:-}
case $event in
  announce | dataset) set -- --dataset-file - ;;
  leave | heartbeat | offline) set -- ;;
  *) usage >&2 && exit 64 ;;
esac
[ -z "$name" ] || set -- "$@" --name "$name"
exec sh "$script" --sealed "$event" --id "$id" "$@"
