#!/usr/bin/env python3
"""Stands in for Home Assistant's Supervisor and its ingress, for an add-on in the same network namespace.

    supervisor.py ADDRESS ADD-ON SERVICE

serves two ports of ADDRESS. On 80, to who shows the token $SUPERVISOR_TOKEN, it names the MQTT service, as the JSON
file SERVICE has it, and is Home Assistant's WebSocket API, where one Thread dataset is. It prints which one is added
there or made preferred. On 8123 it is Home Assistant: below INGRESS it passes requests on to port 8423 of ADD-ON, from
ADDRESS, with the headers that the real one leaves and adds; /frame shows the add-on in a frame, and has its verdict
printed once it is drawn.
"""

import base64
import hashlib
import http.client
import http.server
import json
import os
import socketserver
import struct
import sys
import threading

address, add_on, service = sys.argv[1:]
token = os.environ["SUPERVISOR_TOKEN"]
# Its keys are made up.
TLV = (
    "0e080000000000010000000300001935060004001fffe0020833333333444444440708fdad70bfe5aa15dd0510111122223333444455556666"
    "77778888030a4d79486f6d6531323334010223450410aa5f2b5ca6f2a93a55ce570a70efee020c0402a0f7f8"
)
INGRESS = "/api/hassio_ingress/c0ffee/"
FRAME = f"""<!doctype html><iframe id=page src="{INGRESS}"></iframe><script>
const timer = setInterval(() => {{
  const page = document.getElementById("page").contentDocument;
  if (!page || !page.body || !page.body.dataset.ready) return;
  clearInterval(timer);
  fetch("/verdict", {{method: "POST", body: page.getElementById("verdict").textContent}});
}}, 50);
</script>"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True


class ThreadStore:
    """Home Assistant's datasets, as far as networks are added that it has not got."""

    def __init__(self, tlv, source):
        self.entries, self.tlvs = [], {}
        self.add(tlv, source)

    def add(self, tlv, source):
        rest, fields = bytes.fromhex(tlv), {}
        while rest:
            fields[rest[0]], rest = rest[2 : 2 + rest[1]], rest[2 + rest[1] :]
        entry = {
            "channel": int.from_bytes(fields[0][1:]),
            "created": "2026-11-27T04:28:28.088900+00:00",
            "dataset_id": f"01M8DM62HSZW5QM1QP3QSKQMX{len(self.entries)}",
            "extended_pan_id": fields[2].hex(),
            "network_name": fields[3].decode(),
            "pan_id": fields[1].hex(),
            "preferred": False,
            "preferred_border_agent_id": None,
            "preferred_extended_address": None,
            "source": source,
        }
        self.entries.append(entry)
        self.tlvs[entry["dataset_id"]] = tlv
        return entry["extended_pan_id"]

    def prefer(self, dataset):
        for entry in self.entries:
            entry["preferred"] = entry["dataset_id"] == dataset
        return next(entry["extended_pan_id"] for entry in self.entries if entry["preferred"])


class WebSocket:
    """The server's end of a connection, as far as short texts need it: RFC 6455."""

    def __init__(self, handler):
        self.handler = handler
        key = handler.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        handler.send_response(101)
        handler.send_header("Upgrade", "websocket")
        handler.send_header("Connection", "upgrade")
        handler.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        handler.end_headers()
        handler.close_connection = True

    def send(self, value):
        text = json.dumps(value).encode()
        size = bytes([len(text)]) if len(text) < 126 else b"\x7e" + struct.pack("!H", len(text))
        self.handler.wfile.write(b"\x81" + size + text)

    def receive(self):
        """The next text; None for another frame, or at the end."""
        head = self.handler.rfile.read(2)
        if len(head) < 2 or head[0] != 0x81:
            return None
        size = head[1] & 0x7F
        if size == 126:
            size = struct.unpack("!H", self.handler.rfile.read(2))[0]
        mask = self.handler.rfile.read(4)
        return json.loads(bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.handler.rfile.read(size))))


class Supervisor(Handler):
    def do_GET(self):
        if self.path == "/core/websocket":
            return self.home_assistant(WebSocket(self))
        if self.headers.get("Authorization") != f"Bearer {token}":
            return self.result(401, {"result": "error", "message": "unauthorized"})
        if self.path != "/services/mqtt":
            return self.result(404, {"result": "error", "message": "Service does not exist"})
        try:
            with open(service, encoding="utf-8") as file:
                data = json.load(file)
        except FileNotFoundError:
            return self.result(400, {"result": "error", "message": "Service not enabled"})
        return self.result(200, {"result": "ok", "data": data})

    def home_assistant(self, socket):
        socket.send({"type": "auth_required", "ha_version": "2026.3.0"})
        if (socket.receive() or {}).get("access_token") != token:
            return socket.send({"type": "auth_invalid", "message": "Invalid access"})
        socket.send({"type": "auth_ok", "ha_version": "2026.3.0"})
        while command := socket.receive():
            answer = {"id": command["id"], "type": "result", "success": True}
            match command["type"]:
                case "thread/list_datasets":
                    answer["result"] = {"datasets": store.entries}
                case "thread/get_dataset_tlv":
                    answer["result"] = {"tlv": store.tlvs[command["dataset_id"]]}
                case "thread/add_dataset_tlv":
                    print("added:", store.add(command["tlv"], command["source"]), flush=True)
                    answer["result"] = None
                case "thread/set_preferred_dataset":
                    print("preferred:", store.prefer(command["dataset_id"]), flush=True)
                    answer["result"] = None
                case _:
                    answer |= {"success": False, "error": {"code": "unknown_command", "message": "Unknown command."}}
            socket.send(answer)

    def result(self, status, value):
        self.answer(status, json.dumps(value).encode(), "application/json")


class Ingress(Handler):
    # What the real one does not pass on, and sets itself where it is needed.
    NOT_SENT = {"content-length", "content-encoding", "transfer-encoding", "accept-encoding", "connection"}
    NOT_RETURNED = {"transfer-encoding", "content-length", "content-encoding", "connection"}

    def do_GET(self):
        if self.path == "/frame":
            return self.answer(200, FRAME.encode(), "text/html")
        if self.path == "/verdict":
            verdict = self.rfile.read(int(self.headers["Content-Length"])).decode()
            print(f"in a frame: {verdict}", flush=True)
            return self.answer(200, b"", "text/plain")
        return self.forward()

    # No HEAD, as the real one.
    do_POST = do_GET

    def forward(self):
        if not self.path.startswith(INGRESS):
            return self.answer(404, b"", "text/plain")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or None
        headers = {name: value for name, value in self.headers.items() if name.lower() not in self.NOT_SENT}
        headers |= {
            "X-Ingress-Path": INGRESS.rstrip("/"),
            "X-Forwarded-For": f"{self.client_address[0]}, {address}",
            "X-Forwarded-Host": self.headers.get("Host", ""),
            "X-Forwarded-Proto": "http",
        }
        connection = http.client.HTTPConnection(add_on, 8423, source_address=(address, 0))
        connection.request(self.command, self.path[len(INGRESS) - 1 :], body, headers)
        reply = connection.getresponse()
        self.send_response(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in self.NOT_RETURNED:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while part := reply.read1(65536):
                self.wfile.write(part)
                self.wfile.flush()
        except OSError:
            pass
        connection.close()
        self.close_connection = True


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


store = ThreadStore(TLV, "iOS-app")
threading.Thread(target=Server((address, 80), Supervisor).serve_forever, daemon=True).start()
Server((address, 8123), Ingress).serve_forever()
