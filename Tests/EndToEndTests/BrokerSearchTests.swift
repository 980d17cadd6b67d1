import Foundation
import TestKit
import Testing

/// What setup offers, in a local network of the test's own, with a real avahi-daemon at either end and a Mosquitto at
/// the far one.
@Suite(
  "Brokers on the local network, with avahi-daemon", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) struct BrokerSearchTests
{
  private let network: LocalNetwork
  private let installation: Installation

  init() throws {
    network = try LocalNetwork()
    installation = try Installation(port: nil)
    // The system's resolver knows no `far.local`, and a link-local address would not be offered.
    for side in LocalNetwork.Side.allCases {
      try Program.check(
        "nsenter", Array(network.launcher(side).dropFirst()) + ["ip", "-6", "address", "flush", "dev", side.rawValue],
        environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    }
  }

  /// At the ports of the first service that is published, and of Home Assistant's broker.
  private func mosquitto() async throws -> ChildProcess {
    let (file, log) = (installation.directory.file("mosquitto.conf"), installation.directory.file("mosquitto.log"))
    let lines = [
      "user root", "allow_anonymous true", "log_dest file \(log)", "listener 49152 10.99.0.2",
      "listener 1883 10.99.0.2",
    ]
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: file))
    let launcher = network.launcher(.far)
    let process = try ChildProcess(
      launcher[0], Array(launcher.dropFirst()) + ["/usr/sbin/mosquitto", "-c", file],
      streams: (.nothing, .file(log + ".output"), .sameAsOutput))
    try await eventually("Mosquitto") {
      (try? String(contentsOfFile: log, encoding: .utf8))?.contains(" running") == true
    }
    return process
  }

  /// Setup at its first question. On a busy machine avahi-daemon may not be asked and answer in time.
  private func setup(showing texts: [String]) async throws -> TerminalSession {
    let launcher = network.launcher()
    var attempts = 0
    while true {
      let session = try TerminalSession(
        program: launcher[0],
        Array(launcher.dropFirst()) + [
          ThreadkeeperBinary.executable.path, "setup", "--config", installation.configuration,
        ],
        environment: installation.environment.merging(network.environment()) { $1 }.merging([
          "THREADKEEPER_SYSTEM_ROOT": installation.directory.file("system")
        ]) { $1 })
      try await session.until("]: ")
      attempts += 1
      if attempts == 10 || texts.allSatisfy({ session.screen.contains($0) }) {
        for text in texts { #expect(session.screen.contains(text), "\(session.screen)") }
        return session
      }
      try await stop(session)
    }
  }

  private func stop(_ session: TerminalSession) async throws {
    session.type("\u{3}")
    #expect(try await session.end() == 130, "\(session.screen)")
  }

  @Test("Those that announce themselves and answer, and Home Assistant's, are offered; Enter takes none") func offered()
    async throws
  {
    let broker = try await mosquitto()
    defer {
      broker.signal(SIGKILL)
      broker.wait()
    }
    let publisher = try ServicePublisher(network)
    try publisher.publish("mosquitto", type: "_mqtt._tcp")
    let url = Array("internal_url=http://hub.local:8123".utf8)
    try publisher.publish("Home", type: "_home-assistant._tcp", text: [url])
    try publisher.publish("silent", type: "_mqtt._tcp")
    let several = try await setup(showing: [
      "  1  mosquitto on far.local (10.99.0.2:49152)",
      #"  2  the broker of Home Assistant "Home" on hub.local (10.99.0.2:1883)"#, "Broker [127.0.0.1]: ",
    ])
    #expect(!several.screen.contains("silent"))
    several.type("2\n")
    // Its port is known, and it answers.
    try await several.until("Login [threadkeeper]: ")
    try await stop(several)

    try publisher.withdraw("Home")
    let only = try await setup(showing: ["  1  mosquitto on far.local", "Broker [127.0.0.1]: "])
    only.type("1\n")
    try await only.until("Login [threadkeeper]: ")
    try await stop(only)

    try network.stop(.avahi)
    let blind = try await setup(showing: [
      "Brokers of your network are not looked for: avahi-daemon does not answer.", "Broker [127.0.0.1]: ",
    ])
    try await stop(blind)
  }
}
