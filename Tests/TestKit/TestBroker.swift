import Broker
import Foundation
import Synchronization

/// See `TestBroker.observer`.
package protocol TestBrokerObserver: AnyObject, Sendable { func listen(to broker: TestBroker) }

/// A real Mosquitto in a directory of its own, which goes with it.
package final class TestBroker: Sendable {
  package let broker: EmbeddedBroker
  package let directory: String

  package var port: UInt16 { broker.port }

  /// Told of every broker that is started in its task, so that something can listen to all of them.
  ///
  /// An object and no closure: an optimized program of Swift 6.3 finds no metadata for the type of a closure that is
  /// bound to a task, and crashes (swiftlang/swift#88321).
  @TaskLocal package static var observer: (any TestBrokerObserver)?

  /// Who may read everything that the daemon may, for an observer: nil where everybody may.
  package let observerLogin: String?

  /// Starts it.
  ///
  /// - Parameters:
  ///   - logins: none: everybody may do everything.
  ///   - persistence: whether sessions survive `kill` and `start`. After a kill only what was saved
  ///     before is there; `savesAtOnce` saves after every change.
  ///   - receiveMaximum: Mosquitto's own default is 20.
  package init(
    logins: [EmbeddedBrokerConfiguration.Login] = [], baseTopics: [String] = ["threadkeeper"],
    persistence: Bool = false, savesAtOnce: Bool = false, receiveMaximum: UInt16 = 1000,
    extraConfiguration: [String] = []
  ) throws {
    directory = try Self.temporaryDirectory()
    observerLogin = Self.observer == nil || logins.isEmpty ? nil : "observer-of-the-tests"
    var configuration = EmbeddedBrokerConfiguration(
      directory: directory, port: try UnusedPort.next(), baseTopics: baseTopics, persistence: persistence,
      logins: logins + (observerLogin.map { [.init($0, role: .daemon)] } ?? []))
    configuration.receiveMaximum = receiveMaximum
    configuration.extraConfiguration = savesAtOnce ? ["autosave_on_changes true", "autosave_interval 1"] : []
    configuration.extraConfiguration += extraConfiguration
    configuration.startLimit = .seconds(60)
    broker = EmbeddedBroker(configuration)
    try broker.start()
    Self.observer?.listen(to: self)
  }

  deinit {
    broker.kill()
    try? FileManager.default.removeItem(atPath: directory)
  }

  package func stop() { broker.stop() }
  package func kill() { broker.kill() }

  /// Starts it again, on the same port and with the same passwords.
  package func start() throws { try broker.start() }

  /// How a client reaches it; impatient, for tests.
  package func configuration(clientID: String, user: String? = nil, _ subscriptions: String...)
    -> MosquittoConfiguration
  {
    MosquittoConfiguration(
      host: "127.0.0.1", port: port, clientID: clientID, username: user,
      password: user.flatMap { broker.password(of: $0) }, sessionExpiry: 3600,
      subscriptions: subscriptions.map { MosquittoConfiguration.Subscription($0) },
      reconnect: MosquittoConfiguration.Backoff(initial: .milliseconds(20), ceiling: .milliseconds(200), jitter: 0.2))
  }

  /// The same for a client that keeps no session, and whose id begins with a name.
  package func configuration(passing name: String, user: String? = nil, _ subscriptions: [String] = [])
    -> MosquittoConfiguration
  {
    var configuration = configuration(clientID: "\(name)-\(UInt32.random(in: 0 ... .max))", user: user)
    configuration.subscriptions = subscriptions.map { MosquittoConfiguration.Subscription($0) }
    configuration.cleanStart = true
    configuration.sessionExpiry = 0
    return configuration
  }

  package static func temporaryDirectory() throws -> String {
    let path = "\(NSTemporaryDirectory())/threadkeeper-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return path
  }
}
