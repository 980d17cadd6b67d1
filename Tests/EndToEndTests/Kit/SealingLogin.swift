// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation

/// A login with keys, and one router that it speaks for under seal.
struct SealingLogin: Sendable {
  let user: String
  let agent: String
  let identity: Identity

  init(_ user: String, _ agent: String) throws {
    self.user = user
    self.agent = agent
    identity = try Identity()
  }

  /// - Parameter line: the daemon's.
  func says(_ kind: String, _ dataset: String?, to line: String) throws -> Publication {
    let topic = "threadkeeper/in/\(user)/\(kind)"
    let more = dataset.map { #","name":"Living room","dataset":"\#($0)""# } ?? ""
    let envelope = try Envelope.seal(
      Array(#"{"border_agent_id":"\#(agent)"\#(more)}"#.utf8), to: try PublicIdentity(line: line),
      from: identity,
      at: .init(
        topic: topic, order: .sequence(UInt64(Date().timeIntervalSince1970 * 1_000_000)),
        now: Int64(Date().timeIntervalSince1970)))
    return Publication(
      topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
  }

  /// The topic of its router's state.
  var state: String { "threadkeeper/router/\(agent)" }
}
