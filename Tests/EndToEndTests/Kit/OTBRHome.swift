// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// A broker, a daemon's installation and two networks, for agents beside routers that answer as real ones do.
struct OTBRHome {
  let broker: TestBroker
  let installation: Installation
  let home: ThreadNetwork
  let guest: ThreadNetwork

  init() throws {
    broker = try TestBroker()
    installation = try Installation(broker, hold: 1)
    home = try ThreadNetwork("home")
    guest = try ThreadNetwork("guest")
  }

  /// One process for these routers, the first unless named. The first is called Attic.
  func agent(_ routers: ThreadRouters, _ numbers: Int...) throws -> AgentProcess {
    try AgentProcess(
      .otbr, (numbers.isEmpty ? [0] : numbers).map { routers.url($0) }, broker: broker,
      in: installation.directory, "--name", "Attic")
  }

  func topic(_ agent: String) -> String { "threadkeeper/router/\(agent)" }
}
