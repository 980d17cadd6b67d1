#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Speaks for a Thread border router: tells threadkeeper over MQTT what the router does.
#
# Needs mosquitto_pub (Debian: mosquitto-clients), and curl to ask an OpenThread Border Router.
# The dataset holds the network key: it comes from standard input, a file or the router, and
# like the broker's password it never stands on a command line, where every user of the machine
# could read it. It is published with QoS 1 and never retained.
set -u
umask 077

readonly USAGE=64 BAD_INPUT=65 NO_INPUT=66 UNAVAILABLE=69 NOT_PERMITTED=77 CONFIGURATION=78
readonly newline='
'

usage() {
  cat <<'END'
Usage: border-router.sh COMMAND [OPTION...]

Commands
  announce            the router is on the Thread network; with its dataset, where one is given
  dataset             its dataset has changed
  leave               it has left the Thread network: the keeper deletes its credentials
  heartbeat           it can be reached; once sent, silence counts as offline
  offline             it cannot be reached; its credentials stay
  ssid NEW [OLD]      the Wi-Fi of its access point has another name
  watch-otbr          follow an OpenThread Border Router until stopped: announce it, tell changes
                      of its dataset, send heartbeats, and say when it is off or has left

Options, each with the variable that stands for it
  --id HEX            BORDER_AGENT_ID  16 or 32 hex digits
  --name TEXT         ROUTER_NAME      what people call it
  --vendor TEXT       ROUTER_VENDOR
  --model TEXT        ROUTER_MODEL
  --ext-address HEX   EXT_ADDRESS      16 hex digits
  --access-point TEXT ACCESS_POINT     announce: a name of its Wi-Fi; ssid: instead of --id
  --dataset-file FILE DATASET_FILE     TLVs in hex; - is standard input
  --otbr URL          OTBR_URL         ask this OpenThread Border Router for id, address and
                                       dataset; watch-otbr: http://127.0.0.1:8081 unless given

The broker
  MQTT_USERNAME       the router's login; it also names its topics
  MQTT_PASSWORD_FILE  file with the password, or MQTT_PASSWORD with the password itself
  MQTT_HOST, MQTT_PORT, MQTT_CAFILE    localhost and 1883; with MQTT_CAFILE TLS, on 8883
  Without MQTT_USERNAME, mosquitto_pub's own options file is used, and the user is the one that
  it names: $XDG_CONFIG_HOME/mosquitto_pub, or ~/.config/mosquitto_pub.
  MQTT_VERSION        mqttv5; mqttv311 cannot tell that the broker refused a message

Other variables
  BASE_TOPIC          threadkeeper
  POLL_SECONDS        30    watch-otbr asks the router and tells one thing each time
  ANNOUNCE_SECONDS    3600  watch-otbr announces anew, for a keeper that has lost its store
  STATE_DIRECTORY     where the last sequence number is kept;
                      ~/.local/state/threadkeeper-border-router unless given

Examples
  sudo ot-ctl dataset active -x | border-router.sh announce --id a1b2c3d4e5f60718 \
    --name 'Living room' --dataset-file -
  border-router.sh announce --otbr http://127.0.0.1:8081 --name 'Living room'
  border-router.sh ssid home-wifi-6 home-wifi --id a1b2c3d4e5f60718
  MQTT_HOST=broker.local MQTT_USERNAME=hub MQTT_PASSWORD_FILE=/etc/hub.password \
    border-router.sh watch-otbr --name 'Living room'

Exit status
  0 done   64 wrong usage   65 bad dataset or id   66 no dataset to read
  69 broker or router not reachable   77 refused by the broker   78 no broker login
  A message that the broker took may still be rejected by the keeper: see bridge/event.
END
}

say() { printf '%s\n' "$*" >&2; }

fail() { # exit status, words
  status=$1
  shift
  say "error: $*"
  exit "$status"
}

need() { command -v "$1" >/dev/null || fail "$UNAVAILABLE" "$1 is missing (apt install $2)"; }

# --- What is said -------------------------------------------------------------------------------

is_hex() { # text, length...
  text=$1
  shift
  case $text in '' | *[!0-9A-Fa-f]*) return 1 ;; esac
  for length; do [ "${#text}" -eq "$length" ] && return 0; done
  return 1
}

json_text() {
  printf '%s' "$1" | LC_ALL=C tr -d '\000-\037\177' \
    | LC_ALL=C sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$/"/'
}

fields=
field() { # name, text; nothing for an empty one
  if [ -n "$2" ]; then fields="$fields,\"$1\":$(json_text "$2")"; fi
}

describe_router() {
  fields=
  field name "$name"
  field vendor "$vendor"
  field model "$model"
  field ext_address "$ext_address"
  field access_point "$access_point"
  field dataset "$dataset"
}

# Rises with the clock, and by one where the clock was set back or two events share a moment. A
# router without a battery wakes up in 1970: there the file is what counts.
next_seq() {
  now=$(date +%s%N)
  # Without nanoseconds `date` prints something else.
  is_hex "$now" 19 || now=$(date +%s)000000000
  file=$state/${id:-access-point}.seq
  last=$(cat "$file" 2>/dev/null)
  case $last in '' | *[!0-9]*) last=0 ;; esac
  [ "$now" -gt "$last" ] || now=$((last + 1))
  if ! { mkdir -p "$state" && printf '%s\n' "$now" >"$file.new" && mv "$file.new" "$file"; } \
    2>/dev/null; then
    say "warning: the sequence number cannot be kept in $state (STATE_DIRECTORY)"
  fi
  printf '%s' "$now"
}

# `printf` is part of the shell, so what it prints is in no list of processes.
publish() { # kind; the other fields are in $fields
  topic=$base_topic/in/$user/$1
  subject=
  if [ -n "$id" ]; then subject=",\"border_agent_id\":\"$id\""; fi
  answer=$(printf '{"seq":%s%s%s}' "$(next_seq)" "$subject" "$fields" \
    | XDG_CONFIG_HOME=$options mosquitto_pub -V "$version" -q 1 -t "$topic" -s 2>&1)
  status=$?
  # A refused message is a warning to mosquitto_pub, a refused login an error.
  case $answer in
    *[Nn]'ot authori'[sz]ed*)
      say "error: the broker refuses user $user, its password, or that it writes to $topic"
      return "$NOT_PERMITTED"
      ;;
  esac
  if [ "$status" -ne 0 ]; then
    answer=${answer%%"$newline"*}
    say "error: the broker cannot be reached: ${answer#Error: }"
    return "$UNAVAILABLE"
  fi
}

# --- Where the dataset comes from ---------------------------------------------------------------

first_line() { sed -n '/[^[:space:]]/{p;q;}' | tr -d '[:space:]'; }

check_dataset() {
  case $dataset in *[!0-9A-Fa-f]*) fail "$BAD_INPUT" "the dataset is not hexadecimal" ;; esac
  if [ $((${#dataset} % 2)) -ne 0 ] || [ "${#dataset}" -gt 508 ]; then
    fail "$BAD_INPUT" "the dataset has ${#dataset} hex digits; expected an even number up to 508"
  fi
}

read_dataset() {
  if [ "$dataset_file" = - ]; then
    dataset=$(first_line)
  else
    [ -r "$dataset_file" ] || fail "$NO_INPUT" "the file $dataset_file cannot be read"
    dataset=$(first_line <"$dataset_file")
  fi
  [ -n "$dataset" ] || fail "$NO_INPUT" "there is no dataset in $dataset_file"
  check_dataset
}

ask_otbr() { # path, media type; sets $reply and $code
  reply=$(curl -s --max-time 10 -H "Accept: $2" -w '\n%{http_code}' "$otbr$1") || return 1
  code=${reply##*"$newline"}
  reply=$(printf '%s' "${reply%"$newline"*}" | tr -d '"[:space:]')
}

# Old versions do not tell a border agent id; there it is the extended address.
ask_identity() {
  ask_otbr /node/ext-address application/json || return 1
  if [ "$code" = 200 ] && is_hex "$reply" 16; then ext_address=${given_address:-$reply}; fi
  if [ -n "$given_id" ]; then return 0; fi
  ask_otbr /node/ba-id application/json || return 1
  if [ "$code" = 200 ] && is_hex "$reply" 32 16; then id=$reply; else id=$ext_address; fi
  [ -n "$id" ]
}

# The dataset, empty when the router has none.
ask_dataset() {
  ask_otbr /node/dataset/active text/plain || return 1
  case $code in
    200) dataset=$reply ;;
    204) dataset= ;;
    *) return 1 ;;
  esac
  is_hex "$reply" "${#reply}" || [ -z "$dataset" ]
}

# --- watch-otbr ---------------------------------------------------------------------------------

# What the router is: up, waiting, off, gone or silent. A detached router looks for its network,
# which is no goodbye. A disabled one is switched off and keeps its dataset: offline, not leaving.
# Only without a dataset has it left.
look_at_otbr() {
  what=silent
  ask_identity || return
  ask_dataset || return
  ask_otbr /node/state application/json || return
  [ "$code" = 200 ] || return
  case $reply in
    child | router | leader) what=up ;;
    disabled) if [ -n "$dataset" ]; then what=off; else what=gone; fi ;;
    *) what=waiting ;;
  esac
}

tell() { # kind, words
  publish "$1" || return
  told=$1
  [ -z "$2" ] || say "$id: $2"
}

# One look, at most one message. What could not be told is told at the next look. Bad news must be
# seen three times: an agent that restarts is off, or silent, for a moment.
watch_once() {
  look_at_otbr
  if [ "$what" = "$before" ]; then times=$((times + 1)); else times=1; fi
  before=$what
  fields=
  case $what in
    up)
      now=$(date +%s)
      age=$((now - announced_at))
      if [ "$id" != "$announced_id" ] || [ "$told" = leave ] || [ "$age" -ge "$announce_seconds" ]; then
        describe_router
        tell announce "announced" || return
        announced_id=$id announced_at=$now announced_dataset=$dataset
      elif [ -n "$dataset" ] && [ "$dataset" != "$announced_dataset" ]; then
        describe_router
        tell dataset "its dataset has changed" || return
        announced_dataset=$dataset
      elif [ "$told" = offline ]; then
        tell heartbeat "it is back"
      else
        tell heartbeat ""
      fi
      ;;
    waiting) if [ -n "$announced_id" ] && [ "$told" != leave ]; then tell heartbeat ""; fi ;;
    off | silent)
      if [ -z "$announced_id" ]; then
        [ "$times" -gt 1 ] || say "the router at $otbr is $what; trying again"
      elif [ "$times" -ge 3 ] && [ "$told" != offline ] && [ "$told" != leave ]; then
        id=$announced_id
        tell offline "it is $what"
      fi
      ;;
    gone)
      if [ -n "$announced_id" ] && [ "$times" -ge 3 ] && [ "$told" != leave ]; then
        id=$announced_id
        tell leave "it has left the Thread network"
      fi
      ;;
  esac
}

watch_otbr() {
  before='' told='' times=0 announced_id='' announced_at=0 announced_dataset=''
  while :; do
    watch_once
    # In the background, so that a signal is obeyed at once.
    sleep "$poll_seconds" &
    wait $!
  done
}

# --- Settings -----------------------------------------------------------------------------------

# The broker's address and login, in a file that mosquitto_pub reads and that goes with us.
write_options() {
  password=${MQTT_PASSWORD:-}
  if [ -n "${MQTT_PASSWORD_FILE:-}" ]; then
    [ -r "$MQTT_PASSWORD_FILE" ] || fail "$CONFIGURATION" "$MQTT_PASSWORD_FILE cannot be read"
    IFS= read -r password <"$MQTT_PASSWORD_FILE"
  fi
  options=$(mktemp -d) || fail "$UNAVAILABLE" "no temporary directory can be made"
  trap 'rm -rf "$options"' EXIT
  trap 'exit 143' TERM
  trap 'exit 130' INT HUP
  user=$MQTT_USERNAME
  {
    printf -- '-h %s\n' "${MQTT_HOST:-localhost}"
    if [ -n "${MQTT_PORT:-}" ]; then printf -- '-p %s\n' "$MQTT_PORT"; fi
    printf -- '-u %s\n' "$user"
    if [ -n "$password" ]; then printf -- '-P %s\n' "$password"; fi
    if [ -n "${MQTT_CAFILE:-}" ]; then printf -- '--cafile %s\n' "$MQTT_CAFILE"; fi
  } >"$options/mosquitto_pub"
}

find_login() {
  if [ -n "${MQTT_USERNAME:-}" ]; then
    write_options
  else
    options=${XDG_CONFIG_HOME:-${HOME:-}/.config}
    user=$(sed -n 's/^\(-u\|--username\) //p' "$options/mosquitto_pub" 2>/dev/null)
    [ -n "$user" ] || fail "$CONFIGURATION" "no broker login: set MQTT_USERNAME (see --help)"
  fi
  case $user in
    */* | *+* | *'#'*) fail "$CONFIGURATION" "a user name with /, + or # cannot name a topic" ;;
  esac
}

set_option() {
  case $1 in
    --id) id=$2 ;;
    --name) name=$2 ;;
    --vendor) vendor=$2 ;;
    --model) model=$2 ;;
    --ext-address) ext_address=$2 ;;
    --access-point) access_point=$2 ;;
    --dataset-file) dataset_file=$2 ;;
    --otbr) otbr=$2 ;;
  esac
}

main() {
  id=${BORDER_AGENT_ID:-} name=${ROUTER_NAME:-} vendor=${ROUTER_VENDOR:-} model=${ROUTER_MODEL:-}
  ext_address=${EXT_ADDRESS:-} access_point=${ACCESS_POINT:-} dataset_file=${DATASET_FILE:-}
  otbr=${OTBR_URL:-} base_topic=${BASE_TOPIC:-threadkeeper} version=${MQTT_VERSION:-mqttv5}
  poll_seconds=${POLL_SECONDS:-30} announce_seconds=${ANNOUNCE_SECONDS:-3600}
  state=${STATE_DIRECTORY:-${XDG_STATE_HOME:-${HOME:-}/.local/state}/threadkeeper-border-router}
  dataset='' command='' new='' old=''
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage && exit 0 ;;
      --id | --name | --vendor | --model | --ext-address | --access-point | --dataset-file | --otbr)
        [ $# -gt 1 ] || fail "$USAGE" "$1 needs a value"
        set_option "$1" "$2"
        shift
        ;;
      -*) fail "$USAGE" "unknown option $1; --help lists them" ;;
      *)
        case $command:$new:$old in
          ::) command=$1 ;;
          ssid::) new=$1 ;;
          ssid:*:) old=$1 ;;
          *) fail "$USAGE" "there is one argument too many; --help tells what is expected" ;;
        esac
        ;;
    esac
    shift
  done
  case $command in
    announce | dataset | leave | heartbeat | offline | ssid | watch-otbr) ;;
    '') usage >&2 && exit "$USAGE" ;;
    *) fail "$USAGE" "unknown command; --help lists them" ;;
  esac
  [ "$command" != ssid ] || [ -n "$new" ] || fail "$USAGE" "ssid needs the new name"
  if [ -n "$id" ] && ! is_hex "$id" 16 32; then
    fail "$BAD_INPUT" "a border agent id has 16 or 32 hex digits"
  fi
  id=$(printf '%s' "$id" | tr A-F a-f)
  given_id=$id given_address=$ext_address
  need mosquitto_pub mosquitto-clients
  find_login
  otbr=${otbr%/}
  if [ "$command" = watch-otbr ]; then
    need curl curl
    otbr=${otbr:-http://127.0.0.1:8081}
    watch_otbr
  fi
  speak
}

speak() {
  if [ -n "$otbr" ]; then
    need curl curl
    ask_identity || fail "$UNAVAILABLE" "$otbr does not tell a border agent id"
  fi
  case $command in
    announce | dataset)
      if [ -n "$dataset_file" ]; then
        read_dataset
      elif [ -n "$otbr" ]; then
        ask_dataset || fail "$UNAVAILABLE" "$otbr does not tell a dataset"
      fi
      [ "$command" != dataset ] || [ -n "$dataset" ] \
        || fail "$NO_INPUT" "dataset needs --dataset-file or --otbr"
      describe_router
      ;;
    ssid)
      field ssid "$new"
      field previous_ssid "$old"
      # Whoever watches the Wi-Fi may know its access point only.
      if [ -z "$id" ] && [ -n "$access_point" ]; then
        field access_point "$access_point"
        publish ssid
        return
      fi
      ;;
  esac
  [ -n "$id" ] || fail "$USAGE" "which router? --id or BORDER_AGENT_ID says it"
  publish "$command"
}

main "$@"
