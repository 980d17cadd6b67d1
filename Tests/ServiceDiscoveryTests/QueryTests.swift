import TestKit
import Testing
import ThreadDataset

/// Programs that die without withdrawing their records on hosts that still answer, and a browser that queries every second.
@Suite(.enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) struct QueryTests {
  /// Receives the queries that reach the far side, and answers those for some services.
  private struct Responder {
    private let python: LineProcess

    init(_ network: LocalNetwork) throws {
      let script = """
        import socket, sys, threading
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.bind(("", 5353))
        group = socket.inet_aton("224.0.0.251") + socket.inet_aton("10.99.0.2")
        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
        answering = set()
        def listen():
          while True:
            query, sender = s.recvfrom(9000)
            if sender[1] == 5353: continue
            name = query[13:13 + query[12]].hex()
            print(name, flush=True)
            if name in answering:
              record = bytes.fromhex("c00c 0021 0001 0000000a 0011 0000 0000 1234") + b"\\3raw\\5local\\0"
              head = query[:2] + bytes.fromhex("8400 0001 0001 0000 0000")
              s.sendto(head + query[12:] + record, sender)
        threading.Thread(target=listen, daemon=True).start()
        print("ready", flush=True)
        for line in sys.stdin:
          verb, name = line.split()
          answering.add(name) if verb == "answer" else answering.discard(name)
        """
      python = try LineProcess(network.launcher(.far) + ["python3", "-c", script])
      _ = try python.answer()
    }

    func answer(_ name: String) throws { try python.send("answer \(Hexadecimal.encode(name.utf8))") }
    func ignore(_ name: String) throws { try python.send("ignore \(Hexadecimal.encode(name.utf8))") }

    /// Waits for that many more queries for a service.
    func receive(_ count: Int, for name: String) async throws {
      func received() -> Int { python.lines.count { $0 == Hexadecimal.encode(name.utf8) } }
      let before = received()
      try await eventually("queries for \(name)") { received() >= before + count }
    }
  }

  private let network: LocalNetwork
  private let browser: BrowserProcess
  private let responder: Responder

  init() async throws {
    network = try LocalNetwork()
    responder = try Responder(network)
    browser = try BrowserProcess(network.environment(), launcher: network.launcher(), querySeconds: 1)
  }

  @Test("A service whose program is killed is lost while its host answers, and found when it is back") func killed()
    async throws
  {
    for round in 1...2 {
      let publisher = try ServicePublisher(network)
      try publisher.publish("Router")
      try await browser.wait(for: "found\tRouter\tfar.local\t49152", count: round)
      guard round == 1 else { break }
      try await responder.receive(6, for: "Router")
      #expect(browser.updates("lost").isEmpty)
      try network.stop(.avahi, .far, kill: true)
      try network.start(.avahi, .far)
      try await browser.wait(for: "lost\tRouter")
    }
  }

  @Test("Of silent services those are lost that have answered before, and found when they answer") func silent()
    async throws
  {
    try network.stop(.avahi, .far)
    let sender = try PacketSender(network)
    for name in ["Answering", "Never"] {
      try responder.answer("Answering")
      // One host each: a later service takes the place of another.
      let packet = MulticastPacket(name: Array(name.utf8), host: Array(name.utf8), lifetime: 4_500, hostLifetime: 4_500)
      try await eventually("\(name) is found") {
        try sender.send(packet)
        return !browser.updates("found\t\(name)\t").isEmpty
      }
    }
    try await responder.receive(6, for: "Answering")
    try responder.ignore("Answering")
    try await browser.wait(for: "lost\tAnswering")
    try await responder.receive(6, for: "Never")
    try responder.answer("Answering")
    try await browser.wait(for: "found\tAnswering", count: 2)
    #expect(browser.updates("lost\tNever").isEmpty)
    #expect(browser.updates("found\tNever").count == 1)
  }
}
