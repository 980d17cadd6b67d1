// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import TestKit
import Testing
import ThreadCredentialStore

@testable import Bridge

extension TestBridge {
  /// A sealed part of an item.
  enum DamagedColumn: String, CaseIterable, Sendable {
    case metadata, secret
  }

  /// Alters a byte of what is stored for a router.
  func damageCredential(
    of agent: String, _ column: DamagedColumn = .secret, home: String = "home"
  ) throws {
    let credential = try #require(try credential(agent, home: home))
    try damageRow(column) { tx in
      _ = try self.store.credential(of: credential.agent, in: home, tx)
    }
  }

  /// The same of its adoption.
  func damageAdoption(of name: String, _ column: DamagedColumn) throws {
    let agent = try agent(name)
    try damageRow(column) { tx in _ = try self.store.adoption(of: agent, in: "home", tx) }
  }

  /// Alters a byte of each secret, that of the preferred network among them.
  func damageSecrets() throws {
    try database.write { tx in
      let rows = try tx.all("SELECT id FROM items", row: { $0.integer(0) })
      for row in rows {
        var bytes = try #require(
          try tx.first("SELECT secret FROM items WHERE id = ?", .integer(row)) { $0.blob(0) })
        bytes[bytes.count / 2] ^= 1
        try tx.execute("UPDATE items SET secret = ? WHERE id = ?", .blob(bytes), .integer(row))
      }
    }
  }

  /// - Parameter open: opens what is to be damaged.
  private func damageRow(
    _ column: DamagedColumn, _ open: (ReadTransaction) throws -> Void
  ) throws {
    let rows = try database.read { tx in
      try tx.all("SELECT id FROM items ORDER BY id") { $0.integer(0) }
    }
    for row in rows {
      try flip(column, of: row)
      let isDamaged = try isDamaged(open)
      if isDamaged { return }
      try flip(column, of: row)
    }
    Issue.record("there is no row to damage")
  }

  private func isDamaged(_ open: (ReadTransaction) throws -> Void) throws -> Bool {
    do {
      try database.read { try open($0) }
      return false
    } catch let error as KeychainError where error.status == .decode {
      return true
    }
  }

  /// Done twice, nothing has changed.
  private func flip(_ column: DamagedColumn, of row: Int64) throws {
    try database.write { tx in
      let (read, write): (StaticString, StaticString) =
        switch column {
        case .metadata:
          ("SELECT metadata FROM items WHERE id = ?", "UPDATE items SET metadata = ? WHERE id = ?")
        case .secret:
          ("SELECT secret FROM items WHERE id = ?", "UPDATE items SET secret = ? WHERE id = ?")
        }
      var bytes = try #require(try tx.first(read, .integer(row)) { $0.blob(0) })
      bytes[bytes.count / 2] ^= 1
      try tx.execute(write, .blob(bytes), .integer(row))
    }
  }
}
