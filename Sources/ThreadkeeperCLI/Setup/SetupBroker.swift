// SPDX-License-Identifier: Apache-2.0

import BrokerProbe
import MosquittoClient
import Settings
import ThreadkeeperDaemon

/// The broker that was answered, asked with settings that are not written yet.
struct SetupBroker: Sendable {
  let current: Settings

  /// Connects once.
  func greet(
    _ broker: SetupAnswers.Broker, _ username: String?, _ password: SecretText?
  ) async -> MosquittoError? {
    guard let connection = connection(broker, username, password) else { return nil }
    switch await BrokerProbe(connection).greeting() {
    case .success: return nil
    case .failure(let error): return error
    }
  }

  /// What it lets threadkeeper and clients without a login do.
  ///
  /// - Returns: nil when it did not let the login in.
  func access(
    _ broker: SetupAnswers.Broker, _ username: String?, _ password: SecretText?,
    _ settings: Settings
  ) async -> AccessReport? {
    guard let connection = connection(broker, username, password) else { return nil }
    let bases = settings.homes.map(\.baseTopic) + [BrokerVerdict.elsewhere]
    return try? await BrokerProbe(connection).access(to: bases).get()
  }

  private func connection(
    _ broker: SetupAnswers.Broker, _ username: String?, _ password: SecretText?
  ) -> MosquittoConfiguration? {
    guard case .own(let host, let port, let caFile) = broker else { return nil }
    var mqtt = current.mqtt
    mqtt.port = port
    mqtt.username = username
    mqtt.password = password
    let former = caFile == nil ? nil : mqtt.tls
    mqtt.tls = caFile.map {
      .init(caFile: $0, certFile: former?.certFile, keyFile: former?.keyFile)
    }
    return MosquittoConfiguration(mqtt, host: host)
  }
}
