// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import SystemThreads
import ThreadDataset

/// What one router's agent works with.
package struct RouterConfiguration: AgentConfiguration {
  package var login: AgentLogin
  package var address: HTTPAddress
  /// Whose programs may listen at the address, where that is on this machine: root's, and those of the router's user.
  package var users: Set<UInt32> = [0]
  /// For each request to the router.
  package var requestTimeout = OTBRClient.defaultTimeout
  /// Between two looks. The router is asked on loopback, and what changes is published at once.
  package var poll = Duration.seconds(5)
  package var rhythm = RouterMachine.Rhythm()
  package var description = RouterDescription()
  /// Whether it takes datasets from the daemon; needs keys.
  package var adopts = false
  /// Shared by all agents of the process.
  package var census = RouterCensus()

  package init(_ login: AgentLogin, address: HTTPAddress) {
    self.login = login
    self.address = address
  }

  package var label: (key: String, value: String) { ("otbr", "\(address)") }

  package var offersAgain: Bool { true }

  package func check() throws(MosquittoError) {
    guard let agent = BorderAgentID(bytes: [UInt8](repeating: 0, count: 8)) else { return }
    try connection(for: agent).check()
  }

  package func task(in context: AgentContext) -> any AgentTask { RouterTask(self, context) }

  /// Looks once, and publishes nothing.
  ///
  /// - Returns: what it would publish first, without keys; or why it would publish nothing.
  package func preview() async throws -> [String] {
    try await SystemThread.result {
      let client = OTBRClient(address, of: users, timeout: requestTimeout)
      var reader = RouterReader()
      var machine = RouterMachine(rhythm)
      let look = try reader.look { request throws(HTTPFailure) in try client.perform(request) }
      var effects = machine.handle(.looked(look), at: .zero)
      effects += machine.handle(.connected, at: .zero)
      return effects.compactMap { effect in
        switch effect {
        case .publish(let event): writer.summary(of: event)
        case .log(let note) where note.level == .warning: "\(address): \(note.text)"
        default: nil
        }
      }
    }
  }

  var writer: EventWriter {
    EventWriter(base: login.base, user: login.user, description: description, keys: login.keys)
  }

  var orderTopic: String { OutboundTopic(base: login.base).setDataset(of: login.user) }

  /// The connection of one router: one for each, because a connection has one last will.
  func connection(for agent: BorderAgentID) -> MosquittoConfiguration {
    var result = login.connection("otbr \(agent)", answers: "\(agent)")
    if adopts {
      // What a person has agreed to waits on the broker for as long as its envelope lives.
      result.subscriptions.append(.init(orderTopic, isRequired: false))
      result.cleanStart = false
      result.sessionExpiry = 300
    }
    result.lastWill = writer.lastWill(of: RouterEvent(.offline, of: agent))
    return result
  }
}
