import Foundation
import Testing

/// A daemon and programs at terminals that ask it for the preferred network.
struct AskingHome: Sendable {
  static let agent = "a1b2c3d4e5f60718"

  let running: RunningHome
  let home: ThreadNetwork

  var installation: Installation { running.installation }

  /// The example at a terminal, asking for the preferred network.
  func program() throws -> TerminalSession {
    try TerminalSession(
      program: ThreadClientExampleTests.program, ["preferred"],
      environment: installation.environment.merging(["THREADKEEPER_STORE_PATH": installation.storePath]) { $1 })
  }

  /// The id of the one question that waits.
  func question() async throws -> String { try #require(try await installation.question()["id"]?.text) }

  func history() async throws -> [JSON] {
    try await installation.json("consent", "list", "--history")["history"]?.list ?? []
  }

  /// - Parameter settings: further ones.
  static func start(_ settings: String = "") async throws -> AskingHome {
    let scene = AskingHome(running: try await RunningHome(more: settings), home: try ThreadNetwork("home-thread"))
    let router = BorderRouter(agent)
    try await scene.running.publish(router.announces(try scene.home.hex()))
    try await scene.running.until("the preferred network") { $0.state(router.topic)?["preferred"] == "match" }
    return scene
  }
}
