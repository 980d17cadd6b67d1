// SPDX-License-Identifier: Apache-2.0

import Broker

struct HouseEjabberd: HouseBroker {
  private let broker: Ejabberd

  init() throws {
    let names = ["threadkeeper", "border-router", "monitor"]
    broker = try Ejabberd(logins: Dictionary(uniqueKeysWithValues: names.map { ($0, "\($0)-pw") }))
  }

  var port: UInt16 { broker.port }
  var settings: [String] { ["username: threadkeeper", "password: threadkeeper-pw"] }
  var keepsSessions: Bool { false }

  func client(_ user: String, _ filters: String...) -> MosquittoConfiguration {
    .house(user, "\(user)-pw", port: port, filters)
  }

  func restart() throws { try broker.restart() }
}
