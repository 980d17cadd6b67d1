// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import Synchronization

/// A real Mosquitto in a directory of its own, which goes with it.
package final class TestBroker: Sendable {
  package let broker: EmbeddedBroker
  package let directory: String

  package var port: UInt16 { broker.port }

  /// Told of every broker that is started in its task, so that something can listen to all of them.
  @TaskLocal package static var observer: (@Sendable (TestBroker) -> Void)?

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
    broker = EmbeddedBroker(
      EmbeddedBrokerConfiguration(
        directory: directory, port: try UnusedPort.next(), baseTopics: baseTopics,
        persistence: persistence,
        logins: logins + (observerLogin.map { [.init($0, role: .daemon)] } ?? []),
        receiveMaximum: receiveMaximum,
        extraConfiguration: (savesAtOnce
          ? ["autosave_on_changes true", "autosave_interval 1"] : [])
          + extraConfiguration, startLimit: .seconds(60)))
    try broker.start()
    Self.observer?(self)
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
  package func configuration(
    clientID: String, user: String? = nil, _ subscriptions: String...
  ) -> MosquittoConfiguration {
    MosquittoConfiguration(
      host: "127.0.0.1", port: port, clientID: clientID, username: user,
      password: user.flatMap { broker.password(of: $0) }, sessionExpiry: 3600,
      subscriptions: subscriptions.map { MosquittoConfiguration.Subscription($0) },
      reconnect: MosquittoConfiguration.Backoff(
        initial: .milliseconds(20), ceiling: .milliseconds(200), jitter: 0.2))
  }

  package static func temporaryDirectory() throws -> String {
    let path = "\(NSTemporaryDirectory())/threadkeeper-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    return path
  }
}
