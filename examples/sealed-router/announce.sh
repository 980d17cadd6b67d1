#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Tells threadkeeper that a border router is on its Thread network, or has left it, in an envelope that
# only the keeper can open: the broker, and whoever listens there, sees no network key.
#
# Needs mosquitto_pub (Debian: mosquitto-clients) and the threadkeeper program, but no keeper here.
#
# Once, on this machine:   threadkeeper client keygen --out /etc/threadkeeper/router.key
# once, where the keeper is:   threadkeeper clients enroll ROUTER tk1:… --trust signed
# and its answer, the keeper's line, goes into KEEPER_LINE.
set -eu
umask 077

usage() {
  cat <<'END'
Usage: announce.sh announce|dataset|leave|heartbeat|offline ID [NAME] [< DATASET]

  ID       the border agent id, 16 or 32 hex digits
  NAME     what people call the router
  DATASET  its TLVs in hex, on standard input; of announce and dataset

Variables
  KEEPER_LINE         the keeper's enrolment line (threadkeeper clients fingerprint | head -1)
  CLIENT_KEY          the router's key file; ~/.config/threadkeeper/client.key unless given
  MQTT_USERNAME       the router's login; it also names its topic
  MQTT_PASSWORD_FILE  a file with the password, if it has one
  MQTT_HOST, MQTT_PORT, MQTT_CAFILE    localhost and 1883; with MQTT_CAFILE TLS, on 8883
  BASE_TOPIC          threadkeeper

Example
  sudo ot-ctl dataset active -x | head -1 | announce.sh announce a1b2c3d4e5f60718 'Living room'
END
}

fail() {
  printf 'error: %s\n' "$2" >&2
  exit "$1"
}

case ${1:-}:$# in
  -h:* | --help:*) usage && exit 0 ;;
  *:2 | *:3) ;;
  *) usage >&2 && exit 64 ;;
esac
event=$1 id=$2 name=${3:-}
[ -n "${KEEPER_LINE:-}" ] || fail 78 'KEEPER_LINE, the line of the keeper, is not set; see --help'
[ -n "${MQTT_USERNAME:-}" ] || fail 78 'MQTT_USERNAME, the login of the router, is not set; see --help'
key=${CLIENT_KEY:-$HOME/.config/threadkeeper/client.key}
topic=${BASE_TOPIC:-threadkeeper}/in/$MQTT_USERNAME/$event

case $id in '' | *[!0-9A-Fa-f]*) fail 65 "a border agent id has 16 or 32 hex digits" ;; esac
case $name in *[\"\\]*) fail 65 'a name without " and \, please' ;; esac
body="{\"border_agent_id\":\"$id\"${name:+,\"name\":\"$name\"}"
case $event in
  announce | dataset)
    IFS= read -r dataset || [ -n "${dataset:-}" ] || fail 66 "there is no dataset on standard input"
    case $dataset in '' | *[!0-9A-Fa-f]*) fail 65 "the dataset is not hexadecimal" ;; esac
    body="$body,\"dataset\":\"$dataset\""
    ;;
  leave | heartbeat | offline) ;;
  *) usage >&2 && exit 64 ;;
esac

# The broker's login goes through a file: what stands on a command line, everybody here can read.
options=$(mktemp -d)
publisher=
end() {
  [ -z "$publisher" ] || kill "$publisher" 2>/dev/null || :
  exit "$1"
}
trap 'rm -rf "$options"' EXIT
trap 'end 143' TERM
trap 'end 130' INT HUP
{
  printf -- '-h %s\n' "${MQTT_HOST:-localhost}"
  if [ -n "${MQTT_PORT:-}" ]; then printf -- '-p %s\n' "$MQTT_PORT"; fi
  printf -- '-u %s\n' "$MQTT_USERNAME"
  if [ -n "${MQTT_PASSWORD_FILE:-}" ]; then printf -- '-P %s\n' "$(cat "$MQTT_PASSWORD_FILE")"; fi
  if [ -n "${MQTT_CAFILE:-}" ]; then printf -- '--cafile %s\n' "$MQTT_CAFILE"; fi
} >"$options/mosquitto_pub"

# Nanoseconds since 1970 rise. A router whose clock does not has to keep the last number in a file.
printf '%s}' "$body" \
  | threadkeeper client seal --event --key "$key" --to "$KEEPER_LINE" --topic "$topic" \
    --seq "$(date +%s%N)" >"$options/payload"
# In the background, so that a signal is obeyed at once.
XDG_CONFIG_HOME=$options mosquitto_pub -V mqttv5 -q 1 -t "$topic" -s <"$options/payload" &
publisher=$!
wait "$publisher"
