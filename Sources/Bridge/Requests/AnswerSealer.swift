// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadRequests

/// Seals what is secret in an answer to the key that was enrolled for a user of the broker, never to
/// one that came with the request.
package protocol AnswerSealer: Sendable {
  /// Whether this process knows who is enrolled at all.
  var knowsKeys: Bool { get }

  /// Of the key that a user's answers are sealed to; nil for a user who is not enrolled.
  func fingerprint(of user: String, in home: String, _ tx: ReadTransaction) throws -> String?

  /// Bytes of the largest body that `seal` has room for; nil: any number.
  func room(at place: AnswerPlace, now: WireTime) -> Int?

  /// - Parameters:
  ///   - body: JSON.
  ///   - place: where it is published, and which request it answers; the envelope is bound to both.
  /// - Returns: nil for a user who is not enrolled.
  func seal(
    _ body: [UInt8], to user: String, in home: String, _ place: AnswerPlace, now: WireTime,
    _ tx: ReadTransaction
  ) throws -> SealedText?
}

extension AnswerSealer {
  package var knowsKeys: Bool { true }

  package func room(at place: AnswerPlace, now: WireTime) -> Int? { nil }
}

/// Where an answer belongs.
package struct AnswerPlace: Sendable {
  /// The whole topic that it is published on.
  package var topic: String
  /// That of the request.
  package var transaction: String?
  /// Seconds; nil: as long as an answer lives.
  package var lifetime: Int64?
}

/// Opens sealed requests, and knows whose requests must be sealed.
package protocol RequestOpener: Sendable {
  /// Whether what this user sends in plaintext does not count.
  func requiresSeal(of user: String, in home: String, _ tx: ReadTransaction) throws -> Bool

  /// - Returns: the body, JSON with the fields of a request.
  /// - Throws: `AnswerFailure`.
  func open(
    _ sealed: SealedText, from user: String, in home: String, topic: String, now: WireTime,
    _ tx: WriteTransaction
  ) throws -> [UInt8]
}

/// For a process that knows no keys of clients.
package struct NoEnrolledClients: AnswerSealer, RequestOpener {
  package init() {}

  package var knowsKeys: Bool { false }

  package func fingerprint(of user: String, in home: String, _ tx: ReadTransaction) -> String? {
    nil
  }

  package func seal(
    _ body: [UInt8], to user: String, in home: String, _ place: AnswerPlace, now: WireTime,
    _ tx: ReadTransaction
  ) -> SealedText? { nil }

  package func requiresSeal(of user: String, in home: String, _ tx: ReadTransaction) -> Bool {
    false
  }

  package func open(
    _ sealed: SealedText, from user: String, in home: String, topic: String, now: WireTime,
    _ tx: WriteTransaction
  ) throws -> [UInt8] {
    throw AnswerFailure(.notEnrolled, field: "sealed", "this user is not enrolled")
  }
}
