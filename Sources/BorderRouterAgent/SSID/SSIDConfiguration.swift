// SPDX-License-Identifier: Apache-2.0

import MosquittoClient

/// What an agent of an SSID works with.
package struct SSIDConfiguration: Sendable {
  package var source: SSIDSource
  package var subject: SSIDSubject
  /// Between two looks. A change of the Wi-Fi's name is rare, and nobody waits for it.
  package var interval = Duration.seconds(10)
  /// For a program that is run.
  package var timeout = Duration.seconds(5)
  /// Topics below it, for this login.
  package var base: String
  package var user: String
  /// Of an enrolled login; nil: all is published as plain text.
  package var keys: AgentKeys?
  /// How the broker is reached. Client id, session and subscriptions are set here.
  package var broker: MosquittoConfiguration
  /// What is wrong with the broker, in words of the options that configure it.
  package var brokerWords: @Sendable (MosquittoError) -> String = { $0.message }
  private let instance = String(UInt64.random(in: 0 ... .max), radix: 16)

  package init(
    source: SSIDSource, subject: SSIDSubject, base: String, user: String,
    broker: MosquittoConfiguration
  ) {
    self.source = source
    self.subject = subject
    self.base = base
    self.user = user
    self.broker = broker
  }

  /// What can never work with the broker.
  package func check() throws(MosquittoError) { try connection.check() }

  var writer: SSIDWriter {
    SSIDWriter(base: base, user: user, subject: subject, keys: keys, instance: instance)
  }

  var connection: MosquittoConfiguration {
    var result = broker
    result.clientID = "threadkeeper-ssid-\(user)-\(instance)"
    result.subscriptions = [.init(writer.answerTopic, isRequired: false)]
    result.cleanStart = true
    result.sessionExpiry = 0
    return result
  }
}
