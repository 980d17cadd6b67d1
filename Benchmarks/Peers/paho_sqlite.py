"""Keeps announcements in SQLite, as a short program with paho-mqtt does it: one commit a message.

paho_sqlite.py PLACE-OF-PAHO [PORT FILTER COUNT WINDOW DATABASE]

Prints `version` and what it runs on; with more than that, `ready` when its subscription is granted, and `done` with the nanoseconds of the
monotonic clock when the broker accepted it and when the last message was committed.
"""

import json
import platform
import sqlite3
import sys
import time

place, *rest = sys.argv[1:]
if place:
    sys.path.insert(0, place)

import paho.mqtt  # noqa: E402
import paho.mqtt.client as mqtt  # noqa: E402
from paho.mqtt.packettypes import PacketTypes  # noqa: E402
from paho.mqtt.properties import Properties  # noqa: E402


def say(text):
    print(text, flush=True)


say(f"version paho-mqtt {paho.mqtt.__version__}, Python {platform.python_version()}")
if not rest:
    sys.exit()
port, filter_, count, window, path = rest
expected = int(count)
database = sqlite3.connect(path, isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = FULL")
database.execute("CREATE TABLE IF NOT EXISTS router (agent TEXT PRIMARY KEY, name TEXT, dataset TEXT)")
began = ended = kept = 0


def connected(client, userdata, flags, reason, properties=None):
    global began
    began = time.monotonic_ns()
    client.subscribe(filter_, qos=1)


def subscribed(client, userdata, mid, granted, properties=None):
    say("ready")
    if not expected:
        finish()


# paho sends its acknowledgement when this has returned.
def received(client, userdata, message):
    global kept
    event = json.loads(message.payload)
    database.execute(
        "INSERT OR REPLACE INTO router VALUES (?, ?, ?)",
        (event["border_agent_id"], event.get("name"), event.get("dataset")),
    )
    kept += 1
    if kept == expected:
        finish()


def finish():
    global ended
    ended = time.monotonic_ns()


arguments = {"client_id": "paho-subscriber", "protocol": mqtt.MQTTv5}
if hasattr(mqtt, "CallbackAPIVersion"):
    arguments["callback_api_version"] = mqtt.CallbackAPIVersion.VERSION1
client = mqtt.Client(**arguments)
client.on_connect = connected
client.on_subscribe = subscribed
client.on_message = received
properties = Properties(PacketTypes.CONNECT)
properties.SessionExpiryInterval = 3600
properties.ReceiveMaximum = int(window)
client.connect("127.0.0.1", int(port), 60, clean_start=False, properties=properties)
while not ended:
    if client.loop(1) != mqtt.MQTT_ERR_SUCCESS:
        sys.exit("the connection to the broker is lost")
client.disconnect()
client.loop(1)
say(f"done {began} {ended}")
