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

  @Test("A damaged file is one in whatever words it comes")
  func damaged() {
    let error = SQLiteError(kind: .corrupt, message: "m")
    #expect(
      StoreFailure.reason(KeychainError(error, while: "reading"), path: "/x")
        == StoreFailure.reason(error, path: "/x"))
    // A record that does not open is not the file.
    #expect(StoreFailure.reason(KeychainError(.decode, "one record"), path: "/x") == "one record")
  }

  @Test("The keychain's own words are kept")
  func keychain() {
    #expect(
      StoreFailure.reason(KeychainError(.readOnly, "rolled back"), path: "/x") == "rolled back")
  }
}
