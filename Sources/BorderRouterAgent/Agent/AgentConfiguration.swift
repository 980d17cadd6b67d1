// SPDX-License-Identifier: Apache-2.0

import MosquittoClient

/// What an agent works with, and what it does with it.
package protocol AgentConfiguration: Sendable {
  var login: AgentLogin { get }
  /// What its lines of the log are marked with.
  var label: (key: String, value: String) { get }
  /// Whether what the broker has not acknowledged is offered again on the next connection.
  var offersAgain: Bool { get }

  /// What can never work with the broker, before anything is looked at.
  ///
  /// - Throws: `MosquittoError`.
  func check() throws(MosquittoError)

  /// Its own part, for one run. Called on the agent's thread.
  func task(in context: AgentContext) -> any AgentTask
}
