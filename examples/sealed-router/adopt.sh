#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Waits for the credentials that threadkeeper sends a border router once a person has agreed to it
# (`on_mismatch: adopt`), moves the router to that network, and publishes where the router is then.
#
# Needs mosquitto_sub and mosquitto_pub (Debian: mosquitto-clients), curl, the threadkeeper program, and
# border-router.sh beside this script or one directory above. The login has to be enrolled: see watch.sh.
#
# The router is moved over its REST interface: Thread is disabled, the dataset set, Thread enabled. While
# Thread runs, a dataset must not be set by any way: OpenThread hands it to the leader, and minutes later
# the whole network that the router is on has the credentials, and has moved.
set -eu
umask 077

usage() {
  cat <<'END'
Usage: adopt.sh [--once] [--otbr URL] ID
       adopt.sh [--once] ID SET SHOW

  --once      ends after the first message; else it runs until it is stopped
  --otbr URL  the OpenThread Border Router; http://127.0.0.1:8081 unless given, or OTBR_URL
  ID          the border agent id, 16 or 32 hex digits
  SET         without REST: a command of the shell that moves the router to the dataset on its standard
              input, in hex, while Thread is disabled. Its output and its exit code do not count
  SHOW        one that prints the dataset that the router uses, in hex

Variables
  DAEMON_LINE, CLIENT_KEY, MQTT_USERNAME, MQTT_PASSWORD_FILE, MQTT_HOST, MQTT_PORT, MQTT_CAFILE and
  BASE_TOPIC as in border-router.sh --help
  REQUEST_SECONDS     10    for one request to the router
  ATTACH_SECONDS      90    for the router to be attached on the new network; else it is put back

Exit status
  0 when --once has done its work   143 stopped   78 a variable is missing
  69 otherwise, so that systemd starts it again

Example
  DAEMON_LINE=tk1:... CLIENT_KEY=/etc/threadkeeper/router.key MQTT_USERNAME=hub \
    adopt.sh a1b2c3d4e5f60718
END
}

say() { printf '%s\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$2" >&2
  exit "$1"
}

once='' otbr=${OTBR_URL:-http://127.0.0.1:8081}
while :; do
  case ${1:-} in
    -h | --help) usage && exit 0 ;;
    --once) once=1 && shift ;;
    --otbr)
      [ $# -gt 1 ] || { usage >&2 && exit 64; }
      otbr=${2%/}
      shift 2
      ;;
    *) break ;;
  esac
done
case $# in 1 | 3) ;; *) usage >&2 && exit 64 ;; esac
id=$1 set_command=${2:-} show_command=${3:-}
[ -n "${DAEMON_LINE:-}" ] || fail 78 "DAEMON_LINE, threadkeeper's enrolment line, is not set; see --help"
[ -n "${MQTT_USERNAME:-}" ] || fail 78 'MQTT_USERNAME, the login of the router, is not set; see --help'
case $id in '' | *[!0-9A-Fa-f]*) fail 65 'a border agent id has 16 or 32 hex digits' ;; esac
id=$(printf '%s' "$id" | tr '[:upper:]' '[:lower:]')
# An id of 32 digits whose second half is zeros is the one of 16.
case $id in ????????????????0000000000000000) id=${id%0000000000000000} ;; esac
key=${CLIENT_KEY:-$HOME/.config/threadkeeper/client.key}
topic=${BASE_TOPIC:-threadkeeper}/out/$MQTT_USERNAME/dataset/set
request_seconds=${REQUEST_SECONDS:-10} attach_seconds=${ATTACH_SECONDS:-90}
publisher=$(dirname "$0")/border-router.sh
[ -r "$publisher" ] || publisher=$(dirname "$0")/../border-router.sh
[ -r "$publisher" ] || fail 78 'border-router.sh is not beside this script'

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

# --- OpenThread Border Router over REST ---------------------------------------------------------------

get() { # path below /node, media type; sets $reply, and $code, which is 000 without an answer
  reply=$(curl -s --max-time "$request_seconds" -H "Accept: ${2:-application/json}" -w ' %{http_code}' \
    "$otbr/node/$1") || :
  code=${reply##* }
  reply=$(printf '%s' "${reply% *}" | tr -d '"[:space:]' | tr '[:upper:]' '[:lower:]')
}

# A dataset is on no command line, and what the router answers is not printed.
put() { # path below /node, media type, body; sets $code
  code=$(printf '%s' "$3" | curl -s --max-time "$request_seconds" -X PUT -H "Content-Type: $2" \
    --data-binary @- -o /dev/null -w '%{http_code}' "$otbr/node/$1") || :
}

set_thread() { # enable or disable
  put state application/json "\"$1\""
  [ "$code" = 200 ] || { say "error: $otbr answers $code to '$1' of Thread" && return 1; }
}

set_dataset() { # dataset
  put dataset/active text/plain "$1"
  case $code in 200 | 201) ;; *) say "error: $otbr answers $code to the dataset" && return 1 ;; esac
}

# Whether the router is on a network and takes part in it. The dataset alone does not show that.
is_attached() { # Extended PAN ID
  get ext-panid
  [ "$code:$reply" = "200:$1" ] || return 1
  get state
  case $code:$reply in 200:child | 200:router | 200:leader | 200:[234]) ;; *) return 1 ;; esac
}

wait_attached() { # Extended PAN ID
  waited=0
  until is_attached "$1"; do
    [ "$waited" -lt "$attach_seconds" ] || return 1
    sleep 1
    waited=$((waited + 1))
  done
}

# Puts Thread back as it was before.
put_back() {
  say "putting the router back as it was"
  get dataset/active text/plain
  if [ -n "$old_dataset" ] && ! same_dataset "$reply" "$old_dataset"; then
    if ! { set_thread disable && set_dataset "$old_dataset"; }; then
      say "error: the router could not be put back: give it its dataset and enable Thread by hand"
      return
    fi
  fi
  case $old_state in
    disabled | 0) set_thread disable || : ;;
    *) set_thread enable || say "error: Thread is disabled on the router: enable it by hand" ;;
  esac
}

# Whether the agent is that of this router: no other one gets the credentials, or is reported in its name.
is_own_router() {
  get ba-id
  # Old versions have no such path; there the id is the extended address.
  [ "$code" != 404 ] || get ext-address
  if [ "$code" != 200 ]; then
    say "error: $otbr does not answer ($code); nothing was changed"
    return 1
  fi
  reply=${reply%0000000000000000}
  if [ "$reply" != "$id" ]; then
    say "error: $otbr is border agent $reply, not $id; nothing was changed"
    return 1
  fi
}

# Moves the router to a dataset.
adopt_over_rest() { # dataset
  network=$(printf '%s\n' "$1" | tlvs | sed -n 's/^02 //p')
  is_own_router || return 1
  get state
  old_state=$reply
  [ "$code" = 200 ] || { say "error: $otbr does not report its state; nothing was changed" && return 1; }
  get dataset/active text/plain
  case $code in
    200) old_dataset=$reply ;;
    204) old_dataset= ;;
    *) say "error: $otbr does not report its dataset; nothing was changed" && return 1 ;;
  esac
  if same_dataset "$old_dataset" "$1" && is_attached "$network"; then return 0; fi
  if ! set_thread disable; then
    case $old_state in disabled | 0) ;; *) set_thread enable || : ;; esac
    return 1
  fi
  if set_dataset "$1" && set_thread enable; then
    if wait_attached "$network"; then
      get dataset/active text/plain
      if [ "$code" = 200 ] && same_dataset "$reply" "$1"; then
        say "$id is on network $network"
        return 0
      fi
      say "error: the router uses another dataset than it was given"
    else
      say "error: the router is not attached to network $network after $attach_seconds s"
    fi
  fi
  put_back
  return 1
}

report_over_rest() {
  is_own_router && sh "$publisher" --sealed dataset --id "$id" --otbr "$otbr"
}

# --- Commands of the user's own -----------------------------------------------------------------------

# Without the prompt that some builds of `ot-ctl` print, and its line ends.
shown() {
  sh -c "$show_command" </dev/null 2>/dev/null | tr -d '\r' \
    | sed -n 's/^[^0-9A-Fa-f]*\([0-9A-Fa-f]\{2,\}\)[^0-9A-Fa-f]*$/\1/p' | sed 1q
}

# `ot-ctl`, for one, prints the dataset with its key, and exits with 0 after an error.
adopt_by_command() { # dataset
  printf '%s\n' "$1" | sh -c "$set_command" >/dev/null 2>&1 || :
  same_dataset "$(shown)" "$1" || { say "error: the router does not use the dataset" && return 1; }
}

report_by_command() {
  shown | sh "$publisher" --sealed dataset --id "$id" --dataset-file -
}

# --- Messages -----------------------------------------------------------------------------------------

adopt() { # dataset
  if [ -n "$set_command" ]; then adopt_by_command "$1"; else adopt_over_rest "$1"; fi
}

report() {
  if [ -n "$set_command" ]; then report_by_command; else report_over_rest; fi
}

# The broker keeps what comes while this script is away, as long as it is of use.
set -- -V mqttv5 -q 1 -c -x 3600 -i "$MQTT_USERNAME-adopt-$id" -t "$topic"
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
    # One login may speak for several routers.
    if [ "$(field border_agent_id)" != "$id" ]; then continue; fi
    # A message may come more than once: it is set once.
    if [ "$(field id)" != "$last" ] && adopt "$(field dataset)"; then last=$(field id); fi
    # Whatever has come of it, and each time: threadkeeper may not have heard it the last time.
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
