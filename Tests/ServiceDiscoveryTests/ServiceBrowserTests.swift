import Foundation
import TestKit
import Testing

@Suite(.enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) struct ServiceBrowserTests {
  private let network: LocalNetwork
  private let publisher: ServicePublisher

  init() throws {
    network = try LocalNetwork()
    publisher = try ServicePublisher(network)
  }

  private func text(_ entry: String) -> [UInt8] { Array(entry.utf8) }

  @Test("A service is found with its binary values, one of another type is not, and all are listed") func found()
    async throws
  {
    try publisher.publish("web", type: "_http._tcp")
    let extendedPANID: [UInt8] = [0x11, 0, 0xFF, 0x3D, 0x0A, 0x80, 0xC3, 0x28]
    try publisher.publish(
      "Küche #1", text: [text("vn=eero"), text("xp=") + extendedPANID, text("flag"), text("id=1"), text("ID=2")])
    let browser = try BrowserProcess(network.environment(), keys: ["vn", "xp", "flag", "id", "nn"])
    try await browser.wait(for: "found")
    try await browser.wait(for: "listed")
    #expect(
      browser.updates("found") == [
        "found\tKüche #1\tfar.local\t49153\tvn=6565726f\txp=1100ff3d0a80c328\tflag\tid=31\tnn-"
      ])
    #expect(try await browser.stop() < 2_000)
  }

  @Test("A change of the TXT record is found, and a withdrawn service is lost") func changed() async throws {
    let browser = try BrowserProcess(network.environment(), keys: ["at"])
    try await browser.wait(for: "listed")
    try publisher.publish("router", text: [text("at=\u{1}")])
    try await browser.wait(for: "found\trouter\tfar.local\t49152\tat=01")
    try publisher.publish("router", text: [text("at=\u{2}")])
    try await browser.wait(for: "found\trouter\tfar.local\t49152\tat=02")
    #expect(browser.updates("lost") == [])
    try publisher.withdraw("router")
    try await browser.wait(for: "lost\trouter")
    try publisher.publish("router", text: [text("at=\u{3}")])
    try await browser.wait(for: "found\trouter\tfar.local\t49152\tat=03")
  }

  @Test("Without avahi-daemon it is unavailable; once it is there, services are found and listed") func restarted()
    async throws
  {
    try publisher.publish("router")
    try network.stop(.avahi)
    let browser = try BrowserProcess(network.environment())
    try await browser.wait(for: "unavailable\tavahi-daemon does not answer.\tInstall and start it: `apt-get install")
    for round in 1...2 {
      try network.start(.avahi)
      try await browser.wait(for: "found\trouter\t", count: round)
      try await browser.wait(for: "listed", count: round)
      try network.stop(.avahi, kill: round == 2)
      try await browser.wait(for: "unavailable\tavahi-daemon", count: round + 1)
    }
    #expect(try await browser.stop() < 2_000)
  }

  @Test("When the D-Bus daemon goes and comes back, services are found and listed again") func busRestarted()
    async throws
  {
    try publisher.publish("router")
    let browser = try BrowserProcess(network.environment())
    try await browser.wait(for: "found\trouter\t")
    try await browser.wait(for: "listed")
    try network.stop(.bus)
    try await browser.wait(for: "unavailable\tThe system's D-Bus does not answer")
    // Like systemd: who needs the bus is started again after it.
    try? network.stop(.avahi)
    try network.start(.bus)
    try network.start(.avahi)
    try await browser.wait(for: "listed", count: 2)
    #expect(browser.updates("found\trouter\t").count == 2)
  }

  @Test(
    "A stop returns soon although the D-Bus daemon or avahi-daemon stands still",
    arguments: [LocalNetwork.Part.bus, .avahi]) func frozen(_ part: LocalNetwork.Part) async throws
  {
    let browser = try BrowserProcess(network.environment())
    try await browser.wait(for: "listed")
    if part == .bus {
      try network.freeze(.bus)
    } else {
      // It is asked for a resolver, and does not answer.
      try publisher.publish("router")
      try network.freeze(.avahi)
    }
    #expect(try await browser.stop() < 10_000)
    // Another one begins with a call that is not answered.
    let late = try BrowserProcess(network.environment())
    #expect(try await late.stop() < 10_000)
    #expect(late.isRunning)
  }

  @Test("Services over the limit are not found, and one of them as soon as there is room") func limit() async throws {
    let all = (1...6).map { "router \($0)" }
    for name in all { try publisher.publish(name) }
    // The near avahi-daemon must know all of them first.
    let watcher = try BrowserProcess(network.environment())
    try await watcher.wait(for: "found", count: all.count)
    let browser = try BrowserProcess(network.environment(), maximumServices: all.count - 1)
    try await browser.wait(for: "listed")
    let names = browser.updates("found").map { $0.split(separator: "\t")[1] }
    #expect(Set(names).count == all.count - 1)
    #expect(try await browser.refused() >= 1)
    let other = try #require(all.first { !names.contains($0[...]) })
    try publisher.withdraw(String(names[0]))
    try await browser.wait(for: "lost\t\(names[0])")
    try await browser.wait(for: "found\t\(other)\t")
    #expect(browser.isRunning)
  }
}

/// A `ServiceBrowser` in a process of its own, with the D-Bus daemon of its own environment.
final class BrowserProcess: Sendable {
  struct Missing: Error, CustomStringConvertible { let description: String }

  private let probe: LineProcess

  /// - Parameters:
  ///   - launcher: has its queries sent in a network, `LocalNetwork.launcher()`.
  ///   - keys: of TXT records, whose values `found` lines show.
  init(
    _ environment: [String: String], launcher: [String] = [], type: String = "_meshcop._udp",
    maximumServices: Int = 200, changesPerMinute: Int = 1_000, listingSeconds: Int = 1, querySeconds: Int = 300,
    keys: [String] = []
  ) throws {
    probe = try LineProcess(
      launcher + [
        ServiceProbe.executable, "browse", type, "\(maximumServices)", "\(changesPerMinute)", "\(listingSeconds)",
        "\(querySeconds)",
      ] + keys, environment: environment)
  }

  /// What it has reported so far: `found`, name, host, port and the keys with their values in hexadecimal; `lost` and
  /// a name; `listed`; `unavailable`, message and remedy. Fields are separated by tabs.
  var updates: [String] { probe.lines }

  var isRunning: Bool { probe.process.isRunning }

  func updates(_ kind: String) -> [String] { updates.filter { $0.hasPrefix(kind) } }

  /// Waits until that has been reported so often.
  func wait(for kind: String, count: Int = 1, within limit: Duration = .seconds(60)) async throws {
    do { try await eventually(within: limit) { updates(kind).count >= count } } catch {
      throw Missing(description: "no \(kind), \(count) times; but \(updates.suffix(20)); running: \(isRunning)")
    }
  }

  func refused() async throws -> Int {
    let before = updates("refused\t").count
    try probe.send("refused")
    try await wait(for: "refused\t", count: before + 1)
    return Int(updates("refused\t").last?.split(separator: "\t").last ?? "") ?? -1
  }

  /// Stops it.
  ///
  /// - Returns: how many milliseconds that took.
  func stop() async throws -> Int {
    try probe.send("stop")
    try await wait(for: "stopped\t")
    return Int(updates("stopped\t").last?.split(separator: "\t").last ?? "") ?? -1
  }
}
