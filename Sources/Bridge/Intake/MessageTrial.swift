// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import SodiumCrypto

/// Remembers on disk which message is applied alone, so that one that ends the daemon is skipped in the end.
///
/// Each connection begins with a batch of one message, and the broker sends what was not acknowledged first. So a
/// message that ends the process comes to stand alone after a few restarts. Written before such a batch only.
struct MessageTrial {
  /// Processes that may end while they apply the same message: more than a chance kill or power cut explains.
  static let limit: Int64 = 3

  /// Of the message that this process has noted already: a connection that was lost is no crash.
  private var noted: [UInt8]?

  /// Notes a message.
  ///
  /// - Returns: how many processes have ended while they applied it.
  mutating func begin(_ message: IncomingMessage, in database: SQLiteDatabase) throws -> Int64 {
    let hash = try BLAKE2b.hash256(
      Array(message.topic.utf8) + [0] + message.payload + [0] + (message.correlationData ?? []))
    let isNoted = noted == hash
    noted = hash
    return try database.write { tx in
      let tries =
        try tx.first("SELECT tries FROM outbox WHERE tried = ?", .blob(hash)) { $0.integer(0) } ?? 0
      guard !isNoted else { return max(0, tries - 1) }
      try tx.execute("UPDATE outbox SET tried = ?, tries = ?", .blob(hash), .integer(tries + 1))
      return tries
    }
  }

  /// Forgets it: in the transaction that applies or rejects it.
  static func end(_ tx: WriteTransaction) throws {
    try tx.execute("UPDATE outbox SET tried = NULL, tries = 0 WHERE tried IS NOT NULL")
  }

  /// The same when the daemon ends, or fails, without having been ended by the message.
  mutating func withdraw(in database: SQLiteDatabase) {
    guard noted != nil else { return }
    // When it cannot be written, the process remembers it.
    if (try? database.write { try Self.end($0) }) != nil { noted = nil }
  }
}
