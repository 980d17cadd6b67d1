#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Waits for the credentials that threadkeeper sends a border router once a person has agreed to it
# (`on_mismatch: adopt`), moves the router to that network, and publishes where the router is then.
#
# For routers with commands of their own: `threadkeeper agent otbr --adopt` does it for an OpenThread Border Router.
#
# Needs mosquitto_sub and mosquitto_pub (Debian: mosquitto-clients), the threadkeeper program, and border-router.sh
# beside this script or one directory above. The login has to be enrolled: see announce.sh.
#
# While Thread runs, a dataset must not be set by any way: OpenThread hands it to the leader, and minutes later
# the whole network that the router is on has the credentials, and has moved.
set -eu
umask 077

usage() {
  cat <<'END'
Usage: adopt.sh [--once] ID SET SHOW

  --once      ends after the first message; else it runs until it is stopped
  ID          the border agent id, 16 or 32 hex digits
  SET         a command of the shell that disables Thread, sets the dataset on its standard input, in
              hex, and enables Thread again. Its output and its exit code do not count
  SHOW        one that prints the dataset that the router uses, in hex

Variables
  DAEMON_LINE, CLIENT_KEY, MQTT_USERNAME, MQTT_PASSWORD_FILE, MQTT_HOST, MQTT_PORT, MQTT_CAFILE and
  BASE_TOPIC as in border-router.sh --help
  STATE_DIRECTORY     where the client id is kept; ~/.local/state/threadkeeper-border-router unless given

Exit status
  0 when --once has done its work   143 stopped   78 a variable is missing
  69 otherwise, so that systemd starts it again

Example
  DAEMON_LINE=tk1:... CLIENT_KEY=/etc/threadkeeper/router.key MQTT_USERNAME=hub \
    adopt.sh a1b2c3d4e5f60718 /usr/local/bin/move-router /usr/local/bin/show-dataset
END
}

say() { printf '%s\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$2" >&2
  exit "$1"
}

once=''
while :; do
  case ${1:-} in
    -h | --help) usage && exit 0 ;;
    --once) once=1 && shift ;;
    *) break ;;
  esac
done
[ $# -eq 3 ] || { usage >&2 && exit 64; }
id=$1 set_command=$2 show_command=$3
[ -n "${DAEMON_LINE:-}" ] || fail 78 "DAEMON_LINE, threadkeeper's enrolment line, is not set; see --help"
[ -n "${MQTT_USERNAME:-}" ] || fail 78 'MQTT_USERNAME, the login of the router, is not set; see --help'
case $id in '' | *[!0-9A-Fa-f]*) fail 65 'a border agent id has 16 or 32 hex digits' ;; esac
id=$(printf '%s' "$id" | tr '[:upper:]' '[:lower:]')
# An id of 32 digits whose second half is zeros is the one of 16.
case $id in ????????????????0000000000000000) id=${id%0000000000000000} ;; esac
key=${CLIENT_KEY:-$HOME/.config/threadkeeper/client.key}
topic=${BASE_TOPIC:-threadkeeper}/out/$MQTT_USERNAME/dataset/set
publisher=$(dirname "$0")/border-router.sh
[ -r "$publisher" ] || publisher=$(dirname "$0")/../border-router.sh
[ -r "$publisher" ] || fail 78 'border-router.sh is not beside this script'

# Whoever connects with this client id gets the session, and what waits in it: the id is random, kept in a file, and in
# no list of processes.
state=${STATE_DIRECTORY:-${XDG_STATE_HOME:-${HOME:-}/.local/state}/threadkeeper-border-router}
# Nothing is made below a home directory that is missing.
make_state() {
  [ -n "${STATE_DIRECTORY:-}${XDG_STATE_HOME:-}" ] || [ -d "${HOME:-}" ] || return 1
  mkdir -p "$state"
}
secret=$(cat "$state/client-id" 2>/dev/null) || secret=''
case $secret in
  '' | *[!0-9a-f]*)
    secret=$(LC_ALL=C tr -dc 0-9a-f </dev/urandom | head -c 32)
    { make_state && printf '%s\n' "$secret" >"$state/client-id.$$" \
      && mv "$state/client-id.$$" "$state/client-id"; } 2>/dev/null \
      || say "warning: the client id cannot be kept in $state (STATE_DIRECTORY)"
    ;;
esac

# The broker's login goes through a file: what stands on a command line, everybody here can read.
options=$(mktemp -d)
listener='' worker=''
# What has begun to change the router is finished; nothing begins after it.
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
  printf -- '-i threadkeeper-%s-%s\n' "$secret" "$id"
} >"$options/mosquitto_sub"

# What is in a field of the body. All values are names and digits.
field() { printf '%s\n' "$body" | sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"; }

# The TLVs of a dataset on standard input, one a line and sorted: routers write them in an order of their own.
tlvs() {
  tr -d '[:space:]' | tr '[:upper:]' '[:lower:]' | awk '
    function byte(at) {
      return 16 * (index(digits, substr($0, at, 1)) - 1) + index(digits, substr($0, at + 1, 1)) - 1
    }
    BEGIN { digits = "0123456789abcdef" }
    { for (at = 1; at < length($0); at += 4 + size) {
        size = 2 * byte(at + 2)
        print substr($0, at, 2), substr($0, at + 4, size)
      } }' | sort
}

same_dataset() { [ "$(printf '%s\n' "$1" | tlvs)" = "$(printf '%s\n' "$2" | tlvs)" ]; }

# --- Commands of the user's own -----------------------------------------------------------------------

# Without the prompt that some builds of `ot-ctl` print, and its line ends.
shown() {
  sh -c "$show_command" </dev/null 2>/dev/null | tr -d '\r' \
    | sed -n 's/^[^0-9A-Fa-f]*\([0-9A-Fa-f]\{2,\}\)[^0-9A-Fa-f]*$/\1/p' | sed 1q
}

# `ot-ctl`, for one, prints the dataset with its key, and exits with 0 after an error.
adopt() { # dataset
  printf '%s\n' "$1" | sh -c "$set_command" >/dev/null 2>&1 || :
  same_dataset "$(shown)" "$1" || { say "error: the router does not use the dataset" && return 1; }
}

report() {
  shown | sh "$publisher" --sealed dataset --id "$id" --dataset-file -
}

# --- Messages -----------------------------------------------------------------------------------------

# The broker keeps what comes while this script is away, as long as it is of use.
set -- -V mqttv5 -q 1 -c -x 3600 -D connect maximum-packet-size 65536 -t "$topic"
last=
# In the background, both: a shell obeys a signal while it waits, and not before a pipeline has ended.
mkfifo "$options/messages"
XDG_CONFIG_HOME=$options mosquitto_sub "$@" ${once:+-C 1} >"$options/messages" &
listener=$!
# A dataset half set is worse than a signal that is obeyed a moment later.
(
  while IFS= read -r payload; do
    trap '' TERM INT HUP
    body=$(printf '%s' "$payload" \
      | threadkeeper client open --key "$key" --from "$DAEMON_LINE" --topic "$topic") || continue
    # One login may publish for several routers.
    if [ "$(field border_agent_id)" != "$id" ]; then continue; fi
    # A message may come more than once: it is set once.
    if [ "$(field id)" != "$last" ] && adopt "$(field dataset)"; then last=$(field id); fi
    # Whatever has come of it, and each time: the last report may have been lost.
    if report; then
      if [ "$last" = "$(field id)" ]; then : >"$options/done" || :; fi
    else
      say 'error: the dataset could not be published'
    fi
    body=''
    trap - TERM INT HUP
  done <"$options/messages"
) &
worker=$!
wait "$worker" || :
worker=
if [ -n "$once" ] && [ -e "$options/done" ]; then exit 0; fi
echo 'error: the connection to the broker has ended, or nothing was set' >&2
end 69
