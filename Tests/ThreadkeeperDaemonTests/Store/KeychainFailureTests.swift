// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite struct KeychainFailureTests {
  private func failure(_ body: () throws -> Void) throws -> CommandFailure {
    do {
      try body()
    } catch let error as KeychainError {
      return CommandFailure(error)
    }
    throw KeychainError(.internalError, "nothing was refused")
  }

  @Test func whatMayGoWellAtAnotherTimeEndsWith75() throws {
    let store = try TemporaryStore()
    let keychain = store.keychain
    let inUse = try failure { _ = try Keychain.open(at: store.location, with: store.keyFile) }
    #expect(inUse.status == .temporary && inUse.remedy?.contains("stop it") == true)
    let beside = try store.openBeside()
    try keychain.rotateKeys([store.keyFile])
    let outdated = try failure {
      _ = try beside.database.read { try beside.items(matching: ItemQuery(), in: $0) }
    }
    #expect(outdated.status == .temporary && outdated.message.contains("open it again"))
  }

  @Test func whatTimeDoesNotMendEndsWith77() throws {
    for error in [
      KeychainError(.notAvailable, "the device key is missing"),
      KeychainError(.authFailed, "no key slot opens"),
    ] {
      #expect(CommandFailure(error).status == .notPermitted)
    }
  }
}
