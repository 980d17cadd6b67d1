import Broker
import Testing

/// Where routers are given the credentials of the preferred network. The home's network is preferred, and the router is
/// on the other one.
struct AdoptingHome: Sendable {
  static let settings = "preferred:\n  on_mismatch: adopt\n"

  let running: RunningHome
  let home: ThreadNetwork
  let guest: ThreadNetwork
  /// The daemon's.
  let line: String
  let router: SealingLogin
  private static let topic = "threadkeeper/out/router/dataset/set"

  var installation: Installation { running.installation }
  var audience: Audience { running.audience }

  /// - Parameters:
  ///   - more: further sections of the settings.
  ///   - mqtt: further lines of the section `mqtt`.
  ///   - othersAre: all other publishers are enrolled, too.
  init(more: String = "", mqtt: [String] = [], othersAre: Bool = true) async throws {
    running = try await RunningHome(mqtt: mqtt, more: Self.settings + more)
    home = try ThreadNetwork("home-thread")
    guest = try ThreadNetwork("guest-thread")
    let hub = try SealingLogin("hub", "a1b2c3d4e5f60701")
    router = try SealingLogin("router", "a1b2c3d4e5f60702")
    try await running.installation.enroll(hub)
    line = try await running.installation.daemonLine()
    try await running.publish(hub.says("announce", home.hex(), to: line))
    try await running.until("the preferred network") { $0.state(hub.state)?["preferred"] == "match" }
    if othersAre { Recorder.current?.allPublishersAreEnrolled() }
    try await running.installation.enroll(router)
    try await running.publish(router.says("announce", guest.hex(), to: line))
  }

  /// What the router was sent.
  func messages(_ heard: Audience.Heard) -> [IncomingMessage] { heard.messages.filter { $0.topic == Self.topic } }

  var messages: [IncomingMessage] { audience.look(messages) }

  func untilSent() async throws { try await running.until("the message") { !messages($0).isEmpty } }

  /// The bodies of what the router was sent.
  func opened() throws -> [JSON] { try messages.map { try router.identity.opens($0, from: line) } }

  /// Waits until the newest alert about it is for this reason.
  func failed(_ reason: String) async throws {
    try await running.until("the alert \(reason)") {
      $0.alerts("alert_raised", "AdoptionFailed").last?["reason"]?.text == reason
    }
  }
}
