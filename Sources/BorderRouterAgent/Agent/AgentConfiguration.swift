// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import ThreadDataset

/// What one router's agent works with.
package struct AgentConfiguration: Sendable {
  package var address: HTTPAddress
  /// For each request to the router.
  package var requestTimeout = OTBRClient.defaultTimeout
  /// Between two looks. The router is asked on loopback, and what changes is published at once.
  package var poll = Duration.seconds(5)
  package var rhythm = RouterMachine.Rhythm()
  /// Topics below it, for this login.
  package var base: String
  package var user: String
  package var description = RouterDescription()
  /// Of an enrolled login; nil: all is published as plain text.
  package var keys: AgentKeys?
  /// Whether it takes datasets from the daemon; needs `keys`.
  package var adopts = false
  /// How the broker is reached. Client id, session, subscriptions and last will are set here.
  package var broker: MosquittoConfiguration
  /// What is wrong with the broker, in words of the options that configure it.
  package var brokerMessage: @Sendable (MosquittoError) -> String = { $0.message }
  /// Shows a code, or why there is none, to whoever sits at the terminal. Nil: no code is wanted.
  package var showCode: (@Sendable (BorderAgentID, CredentialSharing.Outcome) -> Void)?

  /// Shared by all agents of the process.
  package var census = RouterCensus()

  package init(
    address: HTTPAddress, base: String, user: String, broker: MosquittoConfiguration
  ) {
    self.address = address
    self.base = base
    self.user = user
    self.broker = broker
  }

  /// What can never work with the broker, before any router is asked.
  package func check() throws(MosquittoError) {
    guard let agent = BorderAgentID(bytes: [UInt8](repeating: 0, count: 8)) else { return }
    try connection(for: agent).check()
  }

  var writer: EventWriter {
    EventWriter(base: base, user: user, description: description, keys: keys)
  }

  var orderTopic: String { OutboundTopic(base: base).setDataset(of: user) }

  /// The connection of one router: one for each, because a connection has one last will.
  func connection(for agent: BorderAgentID) -> MosquittoConfiguration {
    var result = broker
    result.clientID = "threadkeeper-agent-\(user)-\(agent)"
    result.subscriptions = [.init(writer.answerTopic(of: "\(agent)"), isRequired: false)]
    if adopts { result.subscriptions.append(.init(orderTopic, isRequired: false)) }
    // What a person has agreed to waits on the broker for as long as its envelope lives.
    result.cleanStart = !adopts
    result.sessionExpiry = adopts ? 300 : 0
    result.lastWill = writer.lastWill(of: RouterEvent(.offline, of: agent))
    return result
  }
}
