import Foundation
import TestKit
import Testing

/// A daemon and programs at terminals that ask it for the preferred network.
struct AskingHome: Sendable {
  static let agent = "a1b2c3d4e5f60718"

  let broker: TestBroker
  let installation: Installation
  let daemon: DaemonProcess
  let home: ThreadNetwork

  /// The example at a terminal, asking for the preferred network.
  func program() throws -> TerminalSession {
    try TerminalSession(
      program: ThreadClientExampleTests.program, ["preferred"],
      environment: installation.environment.merging(["THREADKEEPER_STORE_PATH": installation.storePath]) { $1 })
  }

  func waiting() async throws -> [JSON] { try await installation.json("consent", "list")["pending"]?.list ?? [] }

  /// The id of the one question that waits.
  func question() async throws -> String {
    try await eventually("a question") { try await waiting().count == 1 }
    return try #require(try await waiting().first?["id"]?.text)
  }

  func history() async throws -> [JSON] {
    try await installation.json("consent", "list", "--history")["history"]?.list ?? []
  }

  /// - Parameter settings: further ones.
  static func start(_ settings: String = "") async throws -> AskingHome {
    let broker = try TestBroker()
    let installation = try Installation(broker, hold: 0, more: settings)
    let daemon = try await installation.start()
    let home = try ThreadNetwork("home-thread")
    let publisher = try await TestPublisher.start(broker)
    try await publisher.publish([BorderRouter(agent).announces(try home.hex())])
    try await eventually("the preferred network") { try await installation.command("preferred", "show").status == 0 }
    return AskingHome(broker: broker, installation: installation, daemon: daemon, home: home)
  }
}
