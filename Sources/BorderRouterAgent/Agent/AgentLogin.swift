// SPDX-License-Identifier: Apache-2.0

import MosquittoClient

/// Where an agent publishes, and as whom.
package struct AgentLogin: Sendable {
  /// Topics below it, for this login.
  package var base: String
  package var user: String
  /// Of an enrolled login; nil: all is published as plain text.
  package var keys: AgentKeys?
  /// How the broker is reached. Client id, session, subscriptions and last will are set by each agent.
  package var broker: MosquittoConfiguration
  package var clientIDs = ClientIDs()
  /// What is wrong with the broker, in words of the options that configure it.
  package var brokerMessage: @Sendable (MosquittoError) -> String = { $0.message }

  package init(base: String, user: String, broker: MosquittoConfiguration) {
    self.base = base
    self.user = user
    self.broker = broker
  }

  /// A connection of this agent's own, without a session, that takes the answers to its events.
  ///
  /// - Parameters:
  ///   - name: of the agent among those of the login.
  ///   - answers: the last level of the topic for its answers.
  func connection(_ name: String, answers: String) -> MosquittoConfiguration {
    var result = broker
    result.clientID = clientIDs.id(of: "\(base)\n\(user)\n\(name)")
    result.subscriptions = [.init(answerTopic(answers), isRequired: false)]
    result.cleanStart = true
    result.sessionExpiry = 0
    return result
  }

  /// Where threadkeeper's answers to events go.
  func answerTopic(_ name: String) -> String { encoder.answerTopic(name) }

  var encoder: EventEncoder { EventEncoder(base: base, user: user, keys: keys) }
}
