#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Waits for what threadkeeper tells a border router to use, once a person has agreed to it
# (`on_mismatch: adopt`), has the router use it, and tells threadkeeper what the router uses then.
#
# Needs mosquitto_sub and mosquitto_pub (Debian: mosquitto-clients), the threadkeeper program and
# announce.sh beside this script. The login has to be enrolled, as announce.sh says.
set -eu
umask 077

usage() {
  cat <<'END'
Usage: adopt.sh [--once] ID SET SHOW

  --once  ends after the first message; else it goes on until it is stopped
  ID      the border agent id, 16 or 32 hex digits
  SET     a command of the shell that has the router use the dataset on its standard input, in hex
  SHOW    one that prints the dataset that the router uses, in hex

Variables
  those of announce.sh

Ends with 0 when --once has done its work; with 143 when it is stopped; with 78 when a variable is missing;
else with 69, so that systemd starts it again.

Example
  adopt.sh a1b2c3d4e5f60718 \
    'read -r dataset && printf "dataset set active %s\n" "$dataset" | sudo ot-ctl' \
    'sudo ot-ctl dataset active -x | head -1'
END
}

fail() {
  printf 'error: %s\n' "$2" >&2
  exit "$1"
}

once=
case ${1:-} in
  -h | --help) usage && exit 0 ;;
  --once) once=1 && shift ;;
esac
[ $# -eq 3 ] || { usage >&2 && exit 64; }
id=$1 set=$2 show=$3
[ -n "${KEEPER_LINE:-}" ] || fail 78 'KEEPER_LINE, the line of the keeper, is not set; see --help'
[ -n "${MQTT_USERNAME:-}" ] || fail 78 'MQTT_USERNAME, the login of the router, is not set; see --help'
case $id in '' | *[!0-9A-Fa-f]*) fail 65 'a border agent id has 16 or 32 hex digits' ;; esac
id=$(printf '%s' "$id" | tr A-F a-f)
# An id of 32 digits whose second half is zeros is the one of 16.
case $id in ????????????????0000000000000000) id=${id%0000000000000000} ;; esac
key=${CLIENT_KEY:-$HOME/.config/threadkeeper/client.key}
topic=${BASE_TOPIC:-threadkeeper}/out/$MQTT_USERNAME/dataset/set
announce=$(dirname "$0")/announce.sh

# The broker's login goes through a file: what stands on a command line, everybody here can read.
options=$(mktemp -d)
listener='' worker=''
# A command that has begun to change the router is let finish; nothing begins after it.
end() {
  for process in $listener $worker; do kill "$process" 2>/dev/null || :; done
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
} >"$options/mosquitto_sub"

# What is in a field of the body. All values are names and digits.
field() { printf '%s\n' "$body" | sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"; }

# The broker keeps what comes while this script is away, as long as it is of use.
set -- -V mqttv5 -q 1 -c -x 3600 -i "$MQTT_USERNAME-adopt-$id" -t "$topic"
last=
# In the background, both: a shell obeys a signal while it waits, and not before a pipeline has ended.
mkfifo "$options/messages"
XDG_CONFIG_HOME=$options mosquitto_sub "$@" ${once:+-C 1} >"$options/messages" &
listener=$!
while IFS= read -r payload; do
  body=$(printf '%s' "$payload" \
    | threadkeeper client open --key "$key" --from "$KEEPER_LINE" --topic "$topic") || continue
  # One login may speak for several routers.
  if [ "$(field border_agent_id)" != "$id" ]; then continue; fi
  # A message may come more than once: it is set once.
  if [ "$(field id)" != "$last" ]; then
    if field dataset | sh -c "$set"; then
      last=$(field id)
    else
      echo 'error: the router does not take the dataset' >&2
    fi
  fi
  # Whatever has come of it, and each time: threadkeeper is told what the router uses, and may not have heard it
  # the last time.
  if sh -c "$show" </dev/null | sh "$announce" dataset "$id"; then
    if [ "$last" = "$(field id)" ]; then : >"$options/done"; fi
  else
    echo 'error: nothing could be announced' >&2
  fi
done <"$options/messages" &
worker=$!
wait "$worker" || :
worker=
if [ -n "$once" ] && [ -e "$options/done" ]; then exit 0; fi
echo 'error: the connection to the broker has ended, or nothing was set' >&2
end 69
