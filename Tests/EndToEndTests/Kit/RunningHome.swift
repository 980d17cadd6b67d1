import Broker
import Foundation
import Synchronization
import TestKit
import Testing

/// A daemon with its broker, a client that receives everything there, and one that publishes.
final class RunningHome: Sendable {
  /// Of the status page, where there is one.
  static let token = "page-token-of-a-test"
  static let shownToken = "Authorization: Bearer \(token)"

  let broker: TestBroker
  let installation: Installation
  let audience: Audience
  let publisher: TestPublisher
  /// Of the status page, where there is one.
  let port: UInt16
  private let running: Mutex<DaemonProcess?>

  /// Returns when the daemon receives all that is published from now on.
  ///
  /// - Parameters:
  ///   - broker: one of its own unless given.
  ///   - logins: none: everybody may do everything. Else the daemon is `threadkeeper`, who receives everything is
  ///     `monitor`, and who publishes `border-router`.
  ///   - mqtt: further lines of the section `mqtt`.
  ///   - hold: seconds for which alerts are held.
  ///   - more: further sections of the settings.
  ///   - hasPage: with the status page, and without discovery where there are no further variables.
  ///   - storePath: somewhere else than in the installation's directory.
  ///   - launcher: a program and its arguments through which everything is started.
  init(
    on broker: TestBroker? = nil, logins: [EmbeddedBrokerConfiguration.Login] = [], mqtt: [String] = [], hold: Int = 0,
    more: String = "", hasPage: Bool = false, storePath: String? = nil, launcher: [String] = [],
    variables: [String: String] = [:]
  ) async throws {
    let broker = try broker ?? TestBroker(logins: logins, persistence: !logins.isEmpty)
    self.broker = broker
    port = try UnusedPort.next()
    let page = """
      \(variables.isEmpty ? "discovery: {mdns: off}" : "")
      http: {enabled: true, port: \(port), token: \(Self.token)}
      """
    let password = broker.broker.password(of: "threadkeeper")
    installation = try Installation(
      broker, mqtt: mqtt + (password.map { ["username: threadkeeper", "password: '\($0)'"] } ?? []), hold: hold,
      more: hasPage ? "\(more)\n\(page)" : more, storePath: storePath, launcher: launcher, variables: variables)
    let isOpen = password == nil
    audience = try await Audience.start(broker, user: isOpen ? nil : "monitor", isOpen ? "#" : "threadkeeper/#")
    publisher = try await TestPublisher.start(broker, user: isOpen ? nil : "border-router")
    running = Mutex(nil)
    try await start()
  }

  /// The one that was started last.
  var daemon: DaemonProcess {
    guard let daemon = running.withLock({ $0 }) else { preconditionFailure("a home begins with a daemon") }
    return daemon
  }

  /// Starts the daemon again that has ended.
  func start() async throws {
    let daemon = try await installation.start()
    running.withLock { $0 = daemon }
  }

  /// The same without waiting for it.
  func launch() throws {
    let daemon = try installation.launch()
    running.withLock { $0 = daemon }
  }

  /// Takes the steps of protection that only a person can take.
  func protect() async throws {
    for words in [["alerts", "confirm"], ["keys", "add", "--recovery-code"]] {
      let ended = try await installation.command(words)
      #expect(ended.status == 0, "\(words): \(ended.error)")
    }
  }

  /// Stops the daemon as systemd does.
  func stop() async throws { #expect(try await daemon.stop() == .exit(0)) }

  func restart() async throws {
    try await stop()
    try await start()
  }

  /// The state of a topic, as it was published last.
  func state(_ topic: String) -> JSON? { audience.state(topic) }

  func publish(_ publications: Publication...) async throws { try await publisher.publish(publications) }

  /// Waits until what was heard fulfils a condition.
  func until(_ what: String, within limit: Duration = .seconds(60), _ condition: (Audience.Heard) -> Bool) async throws
  { try await audience.until(what, within: limit, condition) }

  /// A program asks for the preferred network's credentials, until a person has decided.
  func ask() -> Task<Bool, any Error> {
    let socket = installation.socketPath
    return Task { try await SocketRequest.ask("preferred/get", at: socket).error == nil }
  }

  /// The name of the preferred network; nil: none is.
  var preferred: String? {
    get async throws { try await installation.status()["preferred_networks"]?.list.first?["network_name"]?.text }
  }
}

// MARK: The status page

extension RunningHome {
  var link: String { "http://127.0.0.1:\(port)/?token=\(Self.token)" }

  /// - Parameter identity: of the login that publishes, which is enrolled and seals it; nil: it does not.
  func announce(_ number: Int, _ name: String, _ network: ThreadNetwork, sealedBy identity: Identity? = nil)
    async throws
  {
    let message = BorderRouter(number: number).says(
      "announce", ("name", "\"\(name)\""), ("vendor", "\"Example\""), ("model", "\"Hub\""),
      ("dataset", "\"\(try network.hex())\""))
    guard let identity else { return try await publish(message) }
    let body = String(decoding: message.payload, as: UTF8.self)
    try await publish(identity.seals(body, to: try await installation.daemonLine(), at: message.topic))
  }

  /// A page in a browser, opened.
  func tab() async throws -> BrowserTab {
    let tab = try await BrowserTab()
    try await tab.open(link)
    return tab
  }

  /// Sends a request to the status page, with a body of JSON.
  func post(_ path: String, _ body: String, _ headers: String...) async throws -> RawAnswer {
    let lines =
      ["POST \(path) HTTP/1.1", "Host: localhost", "Content-Length: \(body.utf8.count)"] + [
        "Content-Type: application/json"
      ] + headers
    let connection = try await RawConnection(port: Int(port))
    try await connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    return try RawAnswer(await connection.readToEnd())
  }
}
