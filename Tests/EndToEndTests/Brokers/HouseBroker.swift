import Broker
import TestKit

/// A broker, and how the daemon, a border router and somebody who watches reach it.
protocol HouseBroker: Sendable {
  /// For the daemon.
  var port: UInt16 { get }
  /// Further lines of the daemon's section `mqtt`.
  var settings: [String] { get }
  /// Whether sessions, with what waits in them, survive `restart`.
  var keepsSessions: Bool { get }

  /// - Parameter user: `border-router` or `monitor`.
  func client(_ user: String, _ filters: String...) -> MosquittoConfiguration

  /// As a person restarts a service; returns when it takes connections.
  func restart() throws
}

extension MosquittoConfiguration {
  /// A client of a test: impatient, and without a session.
  static func house(_ user: String?, _ password: String?, port: UInt16, _ filters: [String]) -> Self {
    MosquittoConfiguration(
      host: "127.0.0.1", port: port, clientID: "test-\(UInt32.random(in: 0 ... .max))", username: user,
      password: password, cleanStart: true, subscriptions: filters.map { Subscription($0) },
      reconnect: Backoff(initial: .milliseconds(20), ceiling: .milliseconds(200), jitter: 0.2))
  }
}

struct HouseMosquitto: HouseBroker {
  /// How the daemon proves who it is on a port with TLS.
  enum Proof { case password, certificate }

  let port: UInt16
  let settings: [String]
  private let broker: TestBroker
  private let certificates: TestCertificates?
  private let hasLogins: Bool

  init(settings: [String] = [], hasLogins: Bool = false) throws {
    certificates = nil
    self.hasLogins = hasLogins
    broker = try TestBroker(
      logins: hasLogins ? EmbeddedBrokerConfiguration.Login.home : [], persistence: true, savesAtOnce: true)
    port = broker.port
    let password = broker.broker.password(of: "threadkeeper")
    self.settings = settings + (password.map { ["username: threadkeeper", "password: \($0)"] } ?? [])
  }

  /// A second port, with TLS, for the daemon; the others use the first one.
  init(secured proof: Proof) throws {
    let certificates = try TestCertificates()
    self.certificates = certificates
    hasLogins = true
    port = try UnusedPort.next()
    var lines = [
      "listener \(port) 127.0.0.1", "cafile \(certificates.authority)", "certfile \(certificates.server)",
      "keyfile \(certificates.serverKey)",
    ]
    var settings = ["tls:", "  ca_file: \(certificates.authority)"]
    var logins = EmbeddedBrokerConfiguration.Login.home
    switch proof {
    case .password: break
    case .certificate:
      lines += ["require_certificate true", "use_identity_as_username true"]
      settings += ["  cert_file: \(certificates.client)", "  key_file: \(certificates.clientKey)"]
      // The name in the certificate.
      logins.append(.init("client", role: .daemon))
    }
    broker = try TestBroker(logins: logins, persistence: true, savesAtOnce: true, extraConfiguration: lines)
    if proof == .password, let password = broker.broker.password(of: "threadkeeper") {
      settings = ["username: threadkeeper", "password: \(password)"] + settings
    }
    self.settings = settings
  }

  var keepsSessions: Bool { true }

  func client(_ user: String, _ filters: String...) -> MosquittoConfiguration {
    .house(hasLogins ? user : nil, hasLogins ? broker.broker.password(of: user) : nil, port: broker.port, filters)
  }

  func restart() throws {
    broker.stop()
    try broker.start()
  }
}
