#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Publishes for a Thread border router what threadkeeper needs to know of it, over MQTT.
#
# For routers that `threadkeeper agent otbr` is not for: that one follows an OpenThread Border Router by itself.
#
# Needs mosquitto_pub and mosquitto_sub (Debian: mosquitto-clients). With --sealed also the threadkeeper program, but no daemon here.
# The dataset holds the network key: it comes from standard input or a file, and
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
  leave               it has left the home for good: its credentials are deleted
  heartbeat           it can be reached; once sent, silence counts as offline
  offline             it cannot be reached; its credentials stay. With no_network: repeat it, as a heartbeat
  ssid NEW [OLD]      the Wi-Fi of its access point has another name

Options, each with the variable that stands for it
  --id HEX            BORDER_AGENT_ID  16 or 32 hex digits
  --name TEXT         ROUTER_NAME      what people call it
  --vendor TEXT       ROUTER_VENDOR
  --model TEXT        ROUTER_MODEL
  --ext-address HEX   EXT_ADDRESS      16 hex digits
  --access-point TEXT ACCESS_POINT     announce: a name of its Wi-Fi; ssid: instead of --id
  --dataset-file FILE DATASET_FILE     TLVs in hex; - is standard input
  --reason WORD       OFFLINE_REASON   offline: stopped, unreachable, frozen or no_network
  --sealed                             seal all of it to threadkeeper and sign it; on when
                                       DAEMON_LINE is set

The broker
  MQTT_USERNAME       the router's login; it also names its topics
  MQTT_PASSWORD_FILE  file with the password, or MQTT_PASSWORD with the password itself
  MQTT_HOST, MQTT_PORT, MQTT_CAFILE    localhost and 1883; with MQTT_CAFILE TLS, on 8883
  Without MQTT_USERNAME, mosquitto_pub's own options file is used, and the user is the one that
  it names: $XDG_CONFIG_HOME/mosquitto_pub, or ~/.config/mosquitto_pub.
  MQTT_VERSION        mqttv5; with mqttv311 nobody says that a message was refused or rejected

Sealing
  DAEMON_LINE         threadkeeper's enrolment line (threadkeeper clients list)
  CLIENT_KEY          the router's key file; ~/.config/threadkeeper/client.key unless given

Other variables
  BASE_TOPIC          threadkeeper
  ANSWER_SECONDS      10    how long to wait for threadkeeper's answer to a message; 0: do not ask
  STATE_DIRECTORY     where the last sequence number is kept;
                      ~/.local/state/threadkeeper-border-router unless given

Examples
  sudo ot-ctl dataset active -x | border-router.sh announce --id a1b2c3d4e5f60718 \
    --name 'Living room' --dataset-file -
  border-router.sh ssid home-wifi-6 home-wifi --id a1b2c3d4e5f60718
  DAEMON_LINE=tk1:... CLIENT_KEY=/etc/threadkeeper/router.key MQTT_USERNAME=hub \
    border-router.sh --sealed heartbeat --id a1b2c3d4e5f60718

Exit status
  0 done   64 wrong usage   65 bad dataset or id, or rejected by threadkeeper   66 no dataset to read
  69 broker not reachable   77 refused by the broker   78 no broker login or no keys
  Without an answer in time the status is 0, with a warning: the broker has the message, and
  threadkeeper acts on it when it is back.
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

# --- What is sent -------------------------------------------------------------------------------

lower() { printf '%s' "$1" | tr '[:upper:]' '[:lower:]'; }

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

# Nothing is made below a home directory that is missing.
make_state() {
  [ -n "${STATE_DIRECTORY:-}${XDG_STATE_HOME:-}" ] || [ -d "${HOME:-}" ] || return 1
  mkdir -p "$state"
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
  if ! { make_state && printf '%s\n' "$now" >"$file.new" && mv "$file.new" "$file"; } \
    2>/dev/null; then
    say "warning: the sequence number cannot be kept in $state (STATE_DIRECTORY)"
  fi
  printf '%s' "$now"
}

# Runs a command in the background and waits for it: so a signal is obeyed at once.
child=
await() {
  wait "$child"
  status=$?
  child=
  return "$status"
}

end() { # exit status
  [ -z "$child" ] || kill "$child" 2>/dev/null
  exit "$1"
}

# Replaces a subshell. mosquitto_sub disconnects within its signal handler, where it can block for ever; hence timeout.
subscribe() { # how to end, and what to print
  XDG_CONFIG_HOME=$options exec timeout -k 5 "$((answer_seconds + 5))" mosquitto_sub -V mqttv5 -q 1 \
    -c -x "$session_seconds" -D connect maximum-packet-size 65536 \
    -t "$answers/+" -W "$answer_seconds" "$@"
}

# Makes the session in which the broker keeps the answers. Each is read after its message was sent.
listen() {
  [ -z "$listener" ] && [ "$version" = mqttv5 ] && [ "$answer_seconds" -gt 0 ] || return 0
  listener=yes
  answers=$base_topic/out/$user/response/event/${options##*.}
  subscribe -E >/dev/null 2>&1 &
  child=$!
  # What is wrong with the broker is said when the message is published.
  await || listener=
}

rejected=''
# What threadkeeper made of a message: 0 also when nothing came in time, since the broker has it.
read_answer() { # sequence number
  rejected=
  [ -n "$listener" ] || return 0
  for _ in 1 2 3 4 5 6 7 8; do
    subscribe -C 1 -F '%t %p' >"$options/answer" 2>/dev/null &
    child=$!
    await || break
    answer=$(LC_ALL=C tr -d '\000-\037\177' <"$options/answer")
    # One that came too late is not for this message.
    case $answer in "$answers/$1 "*) ;; *) continue ;; esac
    case $answer in
      *'"status":"error"'*)
        rejected=$(printf '%s' "$answer" | sed -n 's/.*"code":"\([^"]*\)".*/\1/p')
        say "error: threadkeeper has rejected $kind ($rejected): $(printf '%s' "$answer" \
          | sed -n 's/.*"message":"\([^"]*\)".*/\1/p')"
        return "$BAD_INPUT"
        ;;
    esac
    return 0
  done
  say "warning: no answer from threadkeeper within $answer_seconds s; the broker has the message"
}

# The payload of an event. `printf` is part of the shell, so what it prints is in no list of processes.
payload() { # sequence number
  subject=
  if [ -n "$id" ]; then subject=",\"border_agent_id\":\"$id\""; fi
  if [ -z "$sealed" ]; then
    printf '{"seq":%s%s%s}' "$1" "$subject" "$fields"
  else
    inside=$subject$fields
    printf '{%s}' "${inside#,}" | threadkeeper client seal --event --key "$key" \
      --to "$daemon_line" --topic "$topic" --seq "$1"
  fi
}

publish_once() { # kind
  kind=$1
  rejected=''
  topic=$base_topic/in/$user/$kind
  seq=$(next_seq)
  message=$(payload "$seq") || {
    say "error: $kind cannot be sealed with $key"
    return "$CONFIGURATION"
  }
  listen
  set --
  [ -z "$listener" ] || set -- -D publish response-topic "$answers/$seq"
  printf '%s' "$message" | XDG_CONFIG_HOME=$options mosquitto_pub -V "$version" -q 1 -t "$topic" -s \
    "$@" >"$options/said" 2>&1 &
  child=$!
  await
  status=$?
  answer=$(cat "$options/said")
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
  read_answer "$seq"
}

publish() { # kind; the other fields are in $fields
  publish_once "$1" && return 0
  status=$?
  [ "$rejected" = out_of_order ] || return "$status"
  # Another script of this router was faster: once more, with a later number.
  publish_once "$1"
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

# --- Settings -----------------------------------------------------------------------------------

# The broker's address and login, in files that mosquitto_pub and mosquitto_sub read and that go with us.
write_options() {
  password=${MQTT_PASSWORD:-}
  if [ -n "${MQTT_PASSWORD_FILE:-}" ]; then
    [ -r "$MQTT_PASSWORD_FILE" ] || fail "$CONFIGURATION" "$MQTT_PASSWORD_FILE cannot be read"
    IFS= read -r password <"$MQTT_PASSWORD_FILE"
  fi
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
  own=${XDG_CONFIG_HOME:-${HOME:-}/.config}/mosquitto_pub
  if [ -z "${MQTT_USERNAME:-}" ]; then
    user=$(sed -n -e 's/^-u //p' -e 's/^--username //p' "$own" 2>/dev/null)
    [ -n "$user" ] || fail "$CONFIGURATION" "no broker login: MQTT_USERNAME is not set; see --help"
  fi
  options=$(mktemp -d) || fail "$UNAVAILABLE" "no temporary directory can be made"
  trap 'rm -rf "$options"' EXIT
  trap 'end 143' TERM
  trap 'end 130' INT HUP
  if [ -n "${MQTT_USERNAME:-}" ]; then write_options; else cat "$own" >"$options/mosquitto_pub"; fi
  # Whoever connects with a client id ends the connection that has it: each is random, for this run, and in no list of
  # processes.
  sed -e '/^-[iI] /d' -e '/^--id/d' "$options/mosquitto_pub" >"$options/mosquitto_sub"
  cp "$options/mosquitto_sub" "$options/mosquitto_pub"
  for client in pub sub; do
    printf -- '-i threadkeeper-%s\n' "$(LC_ALL=C tr -dc 0-9a-f </dev/urandom | head -c 32)" \
      >>"$options/mosquitto_$client"
  done
  case $user in
    */* | *+* | *'#'*) fail "$CONFIGURATION" "a user name with /, + or # cannot name a topic" ;;
  esac
}

find_keys() {
  daemon_line=${DAEMON_LINE:-} key=${CLIENT_KEY:-${HOME:-}/.config/threadkeeper/client.key}
  if [ -n "$daemon_line" ]; then sealed=yes; fi
  [ -n "$sealed" ] || return 0
  [ -n "$daemon_line" ] \
    || fail "$CONFIGURATION" "DAEMON_LINE, threadkeeper's enrolment line, is not set; see --help"
  need threadkeeper threadkeeper
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
    --reason) reason=$2 ;;
  esac
}

check_seconds() {
  case $answer_seconds in
    '' | *[!0-9]*) fail "$USAGE" "ANSWER_SECONDS is not a whole number" ;;
  esac
}

main() {
  id=${BORDER_AGENT_ID:-} name=${ROUTER_NAME:-} vendor=${ROUTER_VENDOR:-} model=${ROUTER_MODEL:-}
  ext_address=${EXT_ADDRESS:-} access_point=${ACCESS_POINT:-} dataset_file=${DATASET_FILE:-}
  base_topic=${BASE_TOPIC:-threadkeeper} version=${MQTT_VERSION:-mqttv5}
  answer_seconds=${ANSWER_SECONDS:-10}
  reason=${OFFLINE_REASON:-} sealed=''
  check_seconds
  # For as long as the broker keeps the session in which answers come.
  session_seconds=$((answer_seconds + 60))
  state=${STATE_DIRECTORY:-${XDG_STATE_HOME:-${HOME:-}/.local/state}/threadkeeper-border-router}
  dataset='' listener='' command='' new='' old=''
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage && exit 0 ;;
      --sealed) sealed=yes ;;
      --id | --name | --vendor | --model | --ext-address | --access-point | --dataset-file | --reason)
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
          *) fail "$USAGE" "unexpected argument $1; --help shows the usage" ;;
        esac
        ;;
    esac
    shift
  done
  case $command in
    announce | dataset | leave | heartbeat | offline | ssid) ;;
    '') usage >&2 && exit "$USAGE" ;;
    *) fail "$USAGE" "unknown command; --help lists them" ;;
  esac
  [ "$command" != ssid ] || [ -n "$new" ] || fail "$USAGE" "ssid needs the new name"
  if [ -n "$id" ] && ! is_hex "$id" 16 32; then
    fail "$BAD_INPUT" "a border agent id has 16 or 32 hex digits"
  fi
  case $reason in
    '' | stopped | unreachable | frozen | no_network) ;;
    *) fail "$USAGE" "--reason is stopped, unreachable, frozen or no_network" ;;
  esac
  id=$(lower "$id")
  find_keys
  need mosquitto_pub mosquitto-clients
  need mosquitto_sub mosquitto-clients
  need timeout coreutils
  find_login
  send
}

send() {
  case $command in
    announce | dataset)
      [ -z "$dataset_file" ] || read_dataset
      [ "$command" != dataset ] || [ -n "$dataset" ] \
        || fail "$NO_INPUT" "dataset needs --dataset-file"
      describe_router
      ;;
    heartbeat) ;;
    offline) field reason "$reason" ;;
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
  [ -n "$id" ] || fail "$USAGE" "no router is named: give --id or BORDER_AGENT_ID"
  publish "$command"
}

main "$@"
