#!/usr/bin/env python3
"""OpenThread Border Routers with simulated radios, as far as their REST interface shows them.

    thread_routers.py DIRECTORY COUNT

Starts COUNT routers, each with a REST interface on a loopback port of its own, and a control port. When all of them
listen, DIRECTORY/ports has the ports, one a line, the control port last. It ends with its standard input.

The answers (paths, status codes, the upper case of TLVs, what a stopped or reset router goes on telling) follow
recordings of real routers; keys are those that a test gives. What matters most:

- a dataset can be PUT only while Thread is disabled (409 otherwise);
- set on an attached router by `ot-ctl` (control: `mgmt_set`), a dataset is shown at once, and becomes that of the
  WHOLE network that the router is on, after a delay, by way of its leader;
- ext-panid and network-name tell where a router is; the active dataset tells what it is configured with.

Control: POST /ROUTER/ACTION with a body; GET /ROUTER/seen: the datasets that a router has ever had, in hex;
GET /ROUTER/journal: what was asked of it, as `METHOD path code`.
"""
import json
import secrets
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock = threading.RLock()


def tlvs(dataset):
    values, data = {}, bytes.fromhex(dataset)
    at = 0
    while at + 1 < len(data):
        values[data[at]] = data[at + 2 : at + 2 + data[at + 1]]
        at += 2 + data[at + 1]
    return values


def reordered(dataset):
    """A router writes the TLVs in an order of its own, in upper case."""
    values = tlvs(dataset)
    order = sorted(values, key=lambda kind: (kind * 37) % 101)
    return "".join(f"{kind:02X}{len(values[kind]):02X}{values[kind].hex().upper()}" for kind in order)


class Router:
    def __init__(self, world):
        self.world = world
        self.attach_seconds = 0.3
        self.mgmt_seconds = 300
        # "garbage": another server's page
        self.mode = "modern"
        self.frozen = threading.Event()
        self.freeze_after = None  # "PUT /node/state": it is frozen once that is answered
        self.fail = {}  # "PUT /node/state" -> status code
        self.never_attaches = False
        self.delay_scale = 1.0  # of the delay of pending datasets
        self.others = 1  # routers of its partition that are not among these
        self.seen, self.journal = set(), []
        self.reset()

    def reset(self):
        self.agent, self.address = secrets.token_hex(16), secrets.token_hex(8)
        self.lose()

    def lose(self):
        self.active = self.pending = None
        self.current = None  # the dataset that it runs with
        self.sharing = None  # None: off; "enabled": no key; else the state of the one that there is
        self.state, self.attaching, self.since = "disabled", None, 0

    def take(self, dataset):
        self.active = dataset
        self.seen.add(dataset.lower())

    def enable(self):
        if self.state != "disabled":
            return
        self.state, self.since = "detached", time.monotonic()
        self.current = self.active

    def disable(self):
        self.state = "disabled"
        self.world.elect()

    def key(self):
        values = tlvs(self.current) if self.current else {}
        return (values.get(2), values.get(5), values.get(0), values.get(1))

    def tick(self):
        if self.state == "detached" and self.current and not self.never_attaches:
            complete = all(kind in tlvs(self.current) for kind in (0, 1, 2, 3, 5, 14))
            if complete and time.monotonic() - self.since >= self.attach_seconds:
                peers = [r for r in self.world.routers if r is not self and r.attached() and r.key() == self.key()]
                self.state = "router" if peers else "leader"

    def attached(self):
        return self.state in ("child", "router", "leader")

    def count(self):
        peers = [r for r in self.world.routers if r.attached() and r.key() == self.key()]
        return len(peers) + self.others if self.attached() else 0

    def network(self):
        return tlvs(self.current)[2].hex() if self.current and 2 in tlvs(self.current) else "dead00beef00cafe"

    def network_name(self):
        return tlvs(self.current)[3].decode() if self.current and 3 in tlvs(self.current) else "OpenThread"


class World:
    def __init__(self, count):
        self.routers = [Router(self) for _ in range(count)]
        self.changes = []  # (when, key of a network, dataset)

    def elect(self):
        for router in self.routers:
            if router.state == "router":
                peers = [r for r in self.routers if r.attached() and r.key() == router.key()]
                if not any(r.state == "leader" for r in peers):
                    peers[0].state = "leader"

    def mgmt_set(self, router, dataset):
        """`dataset set active` on a router whose Thread runs."""
        router.take(dataset)
        if not router.attached():
            return
        key = router.key()
        for member in self.routers:
            # The leader makes it pending for all of them, key included.
            if member.attached() and member.key() == key:
                member.pending = dataset
                member.seen.add(dataset.lower())
        self.changes.append((time.monotonic() + router.mgmt_seconds, key, dataset))

    def mgmt_pending(self, router, dataset):
        """A pending dataset goes to all of the network that the router is on, and replaces the active one."""
        values, key = tlvs(dataset), router.key()
        active = bytes(
            byte for kind, value in values.items() if kind not in (51, 52) for byte in bytes([kind, len(value)]) + value
        ).hex()
        for member in self.routers:
            if member.attached() and member.key() == key:
                member.pending = dataset
                member.seen.add(active)
        delay = int.from_bytes(values[52], "big") / 1000 * router.delay_scale
        self.changes.append((time.monotonic() + delay, key, active))

    def tick(self):
        for change in [c for c in self.changes if c[0] <= time.monotonic()]:
            self.changes.remove(change)
            for router in self.routers:
                if router.attached() and router.key() == change[1]:
                    router.take(change[2])
                    router.current, router.pending = change[2], None
        for router in self.routers:
            router.tick()


class REST(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # The head and the body of an answer are two writes.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def reply(self, code, kind="application/json", text=""):
        if code in (400, 404, 409, 412, 500, 503, 504):
            text = '{\n\t"title":\t"Error",\n\t"status":\t%d,\n\t"detail":\t""\n}' % code
        self.server.router.journal.append(f"{self.command} {self.path} {code}")
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def handle_any(self):
        router = self.server.router
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        while router.frozen.is_set():
            time.sleep(0.05)
        with lock:
            router.world.tick()
            code = router.fail.get(f"{self.command} {self.path}")
            if code:
                return self.reply(code)
            if router.mode == "garbage":
                return self.reply(200, "text/html", "<html>Welcome</html>")
            getattr(self, "on_" + self.command)(router, body)
            if router.freeze_after == f"{self.command} {self.path}":
                router.freeze_after = None
                router.frozen.set()

    do_GET = do_PUT = do_POST = do_DELETE = handle_any

    def on_GET(self, router, _):
        values = {
            "/node/ext-address": router.address,
            "/node/state": router.state,
            "/node/network-name": router.network_name(),
            "/node/ba-id": router.agent,
            "/node/ext-panid": router.network(),
        }
        if self.path in values:
            return self.reply(200, text=json.dumps(values[self.path]))
        if self.path == "/node":
            fields = {
                "baId": router.agent,
                "state": router.state,
                "extAddress": router.address.upper(),
                "networkName": router.network_name(),
                "extPanId": router.network().upper(),
                "routerCount": router.count(),
            }
            return self.reply(200, text=json.dumps(fields, indent="\t"))
        if self.path in ("/node/dataset/active", "/node/dataset/pending"):
            dataset = router.active if self.path.endswith("active") else router.pending
            return self.reply(200, "text/plain", reordered(dataset)) if dataset else self.reply(204)
        self.reply(404)

    def on_PUT(self, router, body):
        if self.path == "/node/state":
            if body == '"enable"':
                router.enable()
            elif body == '"disable"':
                router.disable()
            else:
                return self.reply(400)
            return self.reply(200)
        if self.path == "/node/dataset/active":
            if router.state != "disabled":
                return self.reply(409)
            try:
                tlvs(body)
            except ValueError:
                return self.reply(400)
            code = 200 if router.active else 201
            router.take(body)
            return self.reply(code)
        if self.path == "/node/dataset/pending":
            try:
                values = tlvs(body)
            except ValueError:
                return self.reply(400)
            # Nothing is missing here: a real router would invent it.
            if any(kind not in values for kind in (0, 1, 2, 3, 4, 5, 7, 12, 14, 51, 52, 53)):
                return self.reply(400)
            if not router.attached() or values[14] <= tlvs(router.active)[14]:
                return self.reply(409)
            router.world.mgmt_pending(router, body)
            return self.reply(201)
        if self.path == "/node/ba-epskc/state":
            router.sharing = router.sharing or "enabled"
            return self.reply(200)
        self.reply(404)

    def on_POST(self, router, body):
        if self.path != "/node/ba-epskc/key":
            return self.reply(404)
        if json.loads(body)["lifetime"] > 600_000:
            return self.reply(400)
        if router.sharing != "enabled":
            return self.reply(409)
        router.sharing = "started"
        self.reply(200, text=json.dumps({"tap": "%09d" % secrets.randbelow(10**9), "port": 49152}))

    def on_DELETE(self, router, _):
        if self.path == "/node/ba-epskc/key":
            router.sharing = router.sharing and "enabled"
        else:
            router.reset()
        self.reply(200)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


class Control(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, text=""):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        _, number, what = self.path.split("/")
        with lock:
            router = world.routers[int(number)]
            world.tick()
            self.answer("\n".join(sorted(router.seen) if what == "seen" else router.journal))

    def do_POST(self):
        _, number, action = self.path.split("/")
        number = int(number)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        router = world.routers[number]
        with lock:
            if action == "form":  # configured with a dataset and attached
                router.take(body)
                router.disable()
                router.enable()
                router.since = 0
            elif action == "mgmt_set":
                world.mgmt_set(router, body)
            elif action in ("reset", "lose", "enable", "disable"):  # lose: no dataset any more
                getattr(router, action)()
            elif action == "freeze_after":
                router.freeze_after = body
            elif action == "freeze":
                router.frozen.set()
            elif action == "thaw":
                router.frozen.clear()
            elif action == "refuse":
                close(number)
            elif action == "listen":
                open_rest(number, ports[number])
            elif action == "swap":  # "1": it and router 1 have each other's address; answers for the new one
                other = int(body)
                world.routers[number], world.routers[other] = world.routers[other], router
                servers[number].router, servers[other].router = world.routers[number], router
                router = world.routers[number]
            elif action == "fail":  # "PUT /node/state 500"
                method, path, code = body.split()
                router.fail[f"{method} {path}"] = int(code)
            elif action == "set":  # "attach_seconds 5"
                name, value = body.split()
                setattr(router, name, type(getattr(router, name))(json.loads(value)))
            world.tick()
        self.answer(router.agent + " " + router.address)


world = World(int(sys.argv[2]))
servers, ports = {}, {}


def open_rest(number, port=0):
    server = Server(("127.0.0.1", port), REST)
    server.router = world.routers[number]
    servers[number], ports[number] = server, server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()


def close(number):
    server = servers.pop(number)
    server.shutdown()
    server.server_close()


def main():
    for number in range(len(world.routers)):
        open_rest(number)
    control = Server(("127.0.0.1", 0), Control)
    threading.Thread(target=control.serve_forever, args=(0.05,), daemon=True).start()
    with open(sys.argv[1] + "/ports", "w") as file:
        file.write("".join(f"{ports[n]}\n" for n in range(len(world.routers))))
        file.write(f"{control.server_address[1]}\n")
    sys.stdin.read()


if __name__ == "__main__":
    main()
