// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import ThreadRequests

@testable import Bridge

/// Everybody is enrolled, and whatever is sealed fails in a way that nobody has thought of.
struct FailingSealer: AnswerSealer {
  struct Unforeseen: Error {}

  func fingerprint(of user: String, in home: String, _ tx: ReadTransaction) -> String? { user }

  func seal(
    _ body: [UInt8], to user: String, in home: String, _ place: AnswerPlace, now: WireTime,
    _ tx: ReadTransaction
  ) throws -> SealedText? { throw Unforeseen() }
}
