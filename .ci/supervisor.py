#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for Home Assistant's Supervisor and its ingress, for an add-on in the same network namespace.

    supervisor.py ADDRESS ADD-ON SERVICE

serves two ports of ADDRESS. On 80 it names the MQTT service, as the JSON file SERVICE has it, to who shows the token
$SUPERVISOR_TOKEN. On 8123 it is Home Assistant: below INGRESS it passes requests on to port 8423 of ADD-ON, from
ADDRESS, with the headers that the real one leaves and adds; /frame shows the add-on in a frame, and has
its verdict printed once it is drawn.
"""

import http.client
import http.server
import json
import os
import socketserver
import sys
import threading

address, add_on, service = sys.argv[1:]
token = os.environ["SUPERVISOR_TOKEN"]
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


class Supervisor(Handler):
    def do_GET(self):
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


threading.Thread(target=Server((address, 80), Supervisor).serve_forever, daemon=True).start()
Server((address, 8123), Ingress).serve_forever()
