// SPDX-License-Identifier: Apache-2.0

import MosquittoClient
import SystemThreads

/// What an agent of an SSID works with.
package struct SSIDConfiguration: AgentConfiguration {
  package var login: AgentLogin
  package var source: SSIDSource
  package var subject: SSIDSubject
  /// Between two looks. A change of the Wi-Fi's name is rare, and a program may be run for each look.
  package var interval = Duration.seconds(10)
  /// For a program that is run.
  package var timeout = Duration.seconds(5)
  /// Of this agent: a login may have several.
  private let instance = String(UInt64.random(in: 0 ... .max), radix: 16)

  package init(_ login: AgentLogin, source: SSIDSource, subject: SSIDSubject) {
    self.login = login
    self.source = source
    self.subject = subject
  }

  package var label: (key: String, value: String) { ("ssid", "\(subject)") }

  /// An SSID that waits may be wrong by the time it arrives.
  package var offersAgain: Bool { false }

  package func check() throws(MosquittoError) { try connection.check() }

  package func task(in context: AgentContext) -> any AgentTask { SSIDTask(self, context) }

  /// Looks once, and publishes nothing. What a program writes to standard error is shown.
  package func look() async throws -> SSIDReading {
    try await SystemThread.result {
      var reader = SSIDReader(source, timeout: timeout, showsErrors: true)
      return reader.look() ?? .none
    }
  }

  /// What it would publish.
  package func summary(of ssid: SSID) -> String { writer.summary(of: ssid) }

  var writer: SSIDWriter {
    SSIDWriter(
      base: login.base, user: login.user, subject: subject, keys: login.keys, instance: instance)
  }

  var connection: MosquittoConfiguration {
    login.connection("ssid \(instance)", answers: "ssid-\(instance)")
  }
}
