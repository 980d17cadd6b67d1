#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Asks threadkeeper for the credentials of the preferred network and writes its dataset to standard output, in
# hex. A person has to agree, within two minutes: `threadkeeper consent approve ID` where the daemon is.
#
# Needs the threadkeeper program, but no daemon here. Once, on this machine:
#   threadkeeper client keygen
# and once where the daemon is:
#   threadkeeper clients enroll LOGIN tk1:… --trust signed       # prints the daemon's line, for DAEMON_LINE
set -eu

usage() {
  cat <<'END'
Usage: preferred-dataset.sh

Variables
  DAEMON_LINE         the daemon's enrolment line
  MQTT_USERNAME       the login that is enrolled
  CLIENT_KEY          its key file; ~/.config/threadkeeper/client.key unless given
  MQTT_PASSWORD_FILE  a file with the password, if it has one
  MQTT_HOST, MQTT_PORT, MQTT_CAFILE    localhost and 1883; with MQTT_CAFILE TLS, on 8883
  BASE_TOPIC          threadkeeper

Ends with 0, with 77 when somebody refuses, 75 when nobody agrees in time, or as `threadkeeper client request` does.

Example: bring a new OpenThread Border Router, whose Thread is disabled, onto the network
  preferred-dataset.sh | curl -sf -X PUT -H 'Content-Type: text/plain' -d @- \
    http://127.0.0.1:8081/node/dataset/active \
    && curl -sf -X PUT -d '"enable"' http://127.0.0.1:8081/node/state
END
}

fail() {
  printf 'error: %s\n' "$2" >&2
  exit "$1"
}

case ${1:-} in -h | --help) usage && exit 0 ;; esac
[ $# -eq 0 ] || { usage >&2 && exit 64; }
[ -n "${DAEMON_LINE:-}" ] || fail 78 'DAEMON_LINE, the line of the daemon, is not set; see --help'
[ -n "${MQTT_USERNAME:-}" ] || fail 78 'MQTT_USERNAME, the login that is enrolled, is not set; see --help'

set -- client request preferred/get --daemon "$DAEMON_LINE" --username "$MQTT_USERNAME" \
  --host "${MQTT_HOST:-localhost}" --base-topic "${BASE_TOPIC:-threadkeeper}"
[ -z "${MQTT_PORT:-}" ] || set -- "$@" --port "$MQTT_PORT"
[ -z "${CLIENT_KEY:-}" ] || set -- "$@" --key "$CLIENT_KEY"
[ -z "${MQTT_PASSWORD_FILE:-}" ] || set -- "$@" --password-file "$MQTT_PASSWORD_FILE"
[ -z "${MQTT_CAFILE:-}" ] || set -- "$@" --cafile "$MQTT_CAFILE"

echo 'Waiting for somebody to agree…' >&2
answer=$(threadkeeper "$@")
# The answer is one line of JSON, and a dataset is nothing but digits.
dataset=$(printf '%s' "$answer" | sed -n 's/.*"dataset" *: *"\([0-9A-Fa-f]*\)".*/\1/p')
[ -n "$dataset" ] || fail 65 'the answer has no dataset'
printf '%s\n' "$dataset"
