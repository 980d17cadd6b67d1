// SPDX-License-Identifier: Apache-2.0

import Broker

/// What a border router says, as publications.
struct BorderRouter: Sendable {
  let agent: String
  var user = "border-router"
  var base = "threadkeeper"

  init(_ agent: String, user: String = "border-router", base: String = "threadkeeper") {
    self.agent = agent
    self.user = user
    self.base = base
  }

  /// A router of a fleet: the number in the last bytes of its id.
  init(number: Int, user: String = "border-router") {
    let digits = String(number, radix: 16)
    self.init(
      "a1b2c3d4" + String(repeating: "0", count: 8 - digits.count) + digits, user: user)
  }

  var topic: String { "\(base)/router/\(agent)" }

  func says(_ kind: String, _ fields: (String, String)...) -> Publication {
    let all = [("border_agent_id", "\"\(agent)\"")] + fields
    let body = all.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
    return Publication(topic: "\(base)/in/\(user)/\(kind)", payload: Array("{\(body)}".utf8))
  }

  func announces(_ dataset: String) -> Publication {
    says("announce", ("dataset", "\"\(dataset)\""))
  }

  func announces(_ dataset: String, sequence: UInt64) -> Publication {
    says("announce", ("dataset", "\"\(dataset)\""), ("seq", "\(sequence)"))
  }

  func changes(to dataset: String) -> Publication { says("dataset", ("dataset", "\"\(dataset)\"")) }

  func changes(to dataset: String, sequence: UInt64) -> Publication {
    says("dataset", ("dataset", "\"\(dataset)\""), ("seq", "\(sequence)"))
  }

  var leaves: Publication { says("leave") }
}
