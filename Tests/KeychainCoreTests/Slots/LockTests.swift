import Foundation
import TestKit
import Testing

@testable import KeychainCore

@Suite struct LockTests {
  private let passphrase = KeySlotSecret.passphrase(Sample.secret("correct horse"))

  private func guarded() throws -> RotatedStore {
    let rotated = try RotatedStore()
    try rotated.keychain.addKeySlot(passphrase)
    return rotated
  }

  @Test func whatWasOpenedByItsKeyFileHasNoSessionKeyAndNothingThatItWraps() throws {
    let rotated = try guarded()
    #expect(rotated.keychain.isUnlocked)
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    try rotated.store.reopen()
    let keychain = rotated.keychain
    #expect(!keychain.isUnlocked)
    keychain.keys.loaded.withLock { loaded in
      let purposes = Set(loaded.keys.keys.map(\.purpose.rawValue))
      #expect(purposes.isDisjoint(with: [2, 16]) && purposes.isSuperset(of: [1, 8, 9, 10, 17, 18]))
    }
    // Asking does not bring it back. What is refused and what is not is in `KeySlotTests`.
    for item in try keychain.items(ItemQuery()) {
      #expect(((try? keychain.secret(of: item)) == nil) == (item.accessible == .whenUnlocked))
    }
    #expect(!keychain.isUnlocked)
    // Everything else goes on, with its attributes, and for the first time too.
    try keychain.add("new")
    #expect(try keychain.verify(.everything).locked == 3)
    #expect(keychain.quarantine.isEmpty && keychain.condition == .healthy)
  }

  @Test func onlyWhatReachesEverythingUnlocks() throws {
    let rotated = try guarded()
    let code = KeySlotSecret.recoveryCode(RecoveryCode())
    try rotated.keychain.addKeySlot(code)
    try rotated.store.reopen()
    refuses(.authFailed) { try rotated.keychain.unlock(with: .passphrase(Sample.secret("wrong"))) }
    #expect(!rotated.keychain.isUnlocked)
    for way in [passphrase, code] {
      try rotated.store.reopen()
      let keychain = rotated.keychain
      #expect(!keychain.isUnlocked)
      refuses(.interactionNotAllowed) { try keychain.unlock(with: rotated.store.keyFile) }
      #expect(!keychain.isUnlocked)
      try keychain.unlock(with: way)
      #expect(keychain.isUnlocked)
      #expect(try rotated.contents() == RotatedStore.expected(0..<18))
      try keychain.add("\(way.kind)", accessible: .whenUnlocked)
      try keychain.items(ItemQuery()).suffix(1).forEach { try keychain.delete($0) }
    }
  }

  /// What happens to the slots while a passphrase takes its time.
  enum Meanwhile: CaseIterable { case slotRemoved, slotReplaced, rotated }

  @Test(arguments: Meanwhile.allCases) func aPassphraseWhoseSlotGoesWhileItIsTriedUnlocksNothing(_ meanwhile: Meanwhile)
    throws
  {
    let rotated = try guarded()
    let other = KeySlotSecret.passphrase(Sample.secret("another one"))
    try rotated.keychain.addKeySlot(other)
    try rotated.store.reopen()
    let keychain = rotated.keychain
    let slot = try #require(try keychain.slots().first { $0.kind == .passphrase })
    let opened = try keychain.rootsOpened(by: passphrase)
    #expect(opened.roots.keys.contains { $0.purpose == .session })
    switch meanwhile {
    case .slotRemoved: try keychain.removeKeySlot(slot.number)
    case .slotReplaced:
      // As many as before.
      try keychain.removeKeySlot(slot.number)
      try keychain.addKeySlot(.keyFile(path: rotated.store.path + "/second.key"))
    case .rotated: try keychain.rotateKeys([rotated.store.keyFile, other])
    }
    refuses(.notAvailable) { try keychain.unlock(by: opened) }
    #expect(!keychain.isUnlocked)
    let locked = try #require(try keychain.items(ItemQuery()).first { $0.accessible == .whenUnlocked })
    refuses(.interactionNotAllowed) { try keychain.secret(of: locked) }
    // Tried again, it opens nothing; one that is still there does.
    refuses(.authFailed) { try keychain.unlock(with: passphrase) }
    try keychain.unlock(with: other)
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }
}
