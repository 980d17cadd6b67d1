// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import Testing

@testable import Bridge
@testable import KeychainCore

@Suite("A failing store in words")
struct StoreFailureTests {
  @Test(
    "Each failure names the path, and what to do",
    arguments: [
      (SQLiteError.Kind.full, "free some space"), (.readOnly, "writable again"),
      (.busy, "stop it"), (.corrupt, "backup"), (.notADatabase, "backup"), (.io, "check it"),
    ])
  func kinds(kind: SQLiteError.Kind, words: String) {
    let reason = StoreFailure.reason(SQLiteError(kind: kind, message: "m"), path: "/var/store")
    #expect(reason.contains("/var/store"))
    #expect(reason.contains(words))
  }

  @Test("A full disk is one in whatever words it comes")
  func diskFull() {
    #expect(
      StoreFailure.reason(KeychainError(.diskFull, "m"), path: "/x")
        == StoreFailure.reason(SQLiteError(kind: .full, message: "m"), path: "/x"))
  }

  @Test("The keychain's own words are kept")
  func keychain() {
    #expect(
      StoreFailure.reason(KeychainError(.readOnly, "rolled back"), path: "/x") == "rolled back")
  }

  @Test(
    "No message is blamed for a failure that would meet any other as well",
    arguments: [
      SQLiteError.Kind.full, .readOnly, .busy, .corrupt, .io, .moved, .notADatabase, .otherVersion,
      .misuse, .outOfMemory,
    ])
  func ofTheStore(kind: SQLiteError.Kind) {
    let error = SQLiteError(kind: kind, message: "m")
    #expect(!StoreFailure.isOfMessage(error))
    #expect(!StoreFailure.isOfMessage(KeychainError(error, while: "reading")))
  }

  @Test("A message is blamed for what only its own rows bring about")
  func ofTheMessage() {
    #expect(StoreFailure.isOfMessage(SQLiteError(kind: .constraint, message: "m")))
    #expect(StoreFailure.isOfMessage(SQLiteError(kind: .other, message: "m")))
    #expect(StoreFailure.isOfMessage(KeychainError(.duplicateItem, "m")))
  }
}
