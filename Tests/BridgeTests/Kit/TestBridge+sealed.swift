// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import Testing

@testable import Bridge

extension TestBridge {
  /// Seals and opens with the current enrolments, as the bridge does from its start on.
  func useEnrolments() throws {
    _ = try database.write { try enrolments.makeIdentity($0) }
    let exchange = EnrolledExchange(enrolments)
    parts.sealer = exchange
    parts.opener = exchange
  }

  func enroll(
    _ user: String, _ keys: PublicIdentity, _ trust: EnrolledClient.Trust = .broker,
    in home: String = "home"
  ) throws {
    let client = EnrolledClient(
      home: home, user: user, keys: keys, trust: trust, enrolledAt: 0, enrolledBy: "test")
    _ = try database.write { try enrolments.enroll(client, $0) }
  }

  /// A request as an enrolled client publishes it.
  func sealedRequest(
    _ command: String, user: String, by signer: Identity, id: String = "r-1",
    _ fields: [String: String] = [:]
  ) throws -> IncomingMessage {
    let topic = "threadkeeper/in/\(user)/request/\(command)"
    var fields = fields
    fields["transaction"] = id
    let body = "{" + fields.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}"
    let envelope = try Envelope.seal(
      Array(body.utf8), to: try #require(enrolments.identity).keys, from: signer,
      at: .init(
        topic: topic, order: .identifier(id), now: clock.now().milliseconds / 1_000, lifetime: 30))
    return IncomingMessage(
      topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
  }
}
