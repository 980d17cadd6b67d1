import TestKit
import Testing

@Suite(.enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) struct HostileServiceTests {
  private let network: LocalNetwork
  private let browser: BrowserProcess
  private let sender: PacketSender

  /// Without an avahi-daemon on the far side, where packets are sent by hand.
  init() async throws {
    network = try LocalNetwork()
    try network.stop(.avahi, .far)
    browser = try BrowserProcess(network.environment(), keys: ["id", "ID", "nn"])
    try await browser.wait(for: "listed")
    sender = try PacketSender(network)
  }

  private func text(_ entry: String) -> [UInt8] { Array(entry.utf8) }

  @Test("A service that goes without a goodbye is lost when its records expire") func expired() async throws {
    try await eventually {
      try sender.send(MulticastPacket(name: text("short"), lifetime: 3))
      return !browser.updates("found\tshort\traw.local\t4660").isEmpty
    }
    try await browser.wait(for: "lost\tshort")
  }

  @Test("A service whose host falls silent is lost when the address expires, although its records live on")
  func silent() async throws {
    let packet = MulticastPacket(name: text("cut"), lifetime: 4_500, hostLifetime: 3)
    for round in 1...2 {
      try await eventually {
        try sender.send(packet)
        return browser.updates("found\tcut\traw.local").count == round
      }
      try await browser.wait(for: "lost\tcut", count: round)
    }
    // A browser that comes later finds its records in avahi-daemon, and nobody behind them.
    let late = try BrowserProcess(network.environment())
    try await late.wait(for: "listed")
    #expect(late.updates("found") == [])
    // Once more when the records have gone, too.
    try sender.send(MulticastPacket(name: text("cut"), lifetime: 0, hostLifetime: 0))
    try await browser.wait(for: "lost\tcut", count: 3)
  }

  @Test("The first of a repeated key is the first on the wire, and entries that are no pairs are ignored") func order()
    async throws
  {
    let entries = [[], text("="), text("=x"), text("nn=\0\u{1}"), text("id=1"), text("Id=2")]
    let packet = MulticastPacket(name: text("order"), text: MulticastPacket.strings(entries))
    try await eventually {
      try sender.send(packet)
      return !browser.updates("found\torder").isEmpty
    }
    #expect(browser.updates("found\torder") == ["found\torder\traw.local\t4660\tid=31\tID=31\tnn=0001"])
  }

  @Test("Garbage from the network ends nothing, and what is valid is found after it") func garbage() async throws {
    func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }
    let full = [UInt8](repeating: 0xFF, count: 255)
    let packets = [
      MulticastPacket(name: text("\u{1B}[2J\u{7}\n")), MulticastPacket(name: [0xFF, 0xFE, 0x80]),
      MulticastPacket(name: [0x41, 0, 0x42]), MulticastPacket(name: text(String(repeating: "\\", count: 63))),
      MulticastPacket(name: text("bad host"), host: text("\u{1B}[31mh")),
      MulticastPacket(name: text("binary host"), host: [0xFF, 0, 0xFE]),
      MulticastPacket(name: text("torn"), text: [200, 1, 2]), MulticastPacket(name: text("none"), text: []),
      MulticastPacket(name: text("full"), text: MulticastPacket.strings([[UInt8]](repeating: full, count: 30))),
      MulticastPacket(name: text("many"), text: MulticastPacket.strings((0..<400).map { text("k\($0)=") })),
      MulticastPacket(name: text("zeros"), text: [UInt8](repeating: 0, count: 1_400)),
    ]
    for packet in packets { try sender.send(packet) }
    for _ in 0..<100 {
      try sender.send(MulticastPacket(name: random(.random(in: 1...63)), text: random(.random(in: 0...1_200))))
    }
    let good = MulticastPacket(name: text("good"), text: MulticastPacket.strings([text("id=1")]))
    try await eventually {
      try sender.send(good)
      return !browser.updates("found\tgood\traw.local\t4660\tid=31").isEmpty
    }
    #expect(browser.isRunning)
    // Nothing that a terminal obeys is in a name or a host.
    #expect(!browser.updates.contains { $0.unicodeScalars.contains { $0.value < 0x20 && $0 != "\t" } })
    try await eventually { try await browser.refused() > 0 }
    _ = try await browser.stop()
  }
}
