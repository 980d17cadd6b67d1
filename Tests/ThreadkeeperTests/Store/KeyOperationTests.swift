import DaemonTestKit
import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

@testable import Threadkeeper

@Suite("What is refused about the keys of a store, and why") struct KeyOperationTests {
  private static let passphrase = "correct horse battery"
  private let store: TemporaryStore
  private let opened: OpenedStore

  /// A key file and a passphrase open it.
  init() throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    store = try TemporaryStore(
      options: options, slots: [.passphrase(SecretBytes(copying: Array(Self.passphrase.utf8)))])
    opened = OpenedStore(keychain: store.keychain, settings: MovedStore.settings(store))
  }

  private func expect(
    _ status: Threadkeeper.ExitStatus, _ words: String, of operation: some KeyOperation, _ opened: OpenedStore? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let failure = #expect(throws: CommandFailure.self, sourceLocation: location) {
      do { _ = try operation.perform(opened ?? self.opened) } catch let error as KeychainError {
        throw CommandFailure(error)
      }
    }
    let text = "\(failure?.message ?? "") \(failure?.remedy ?? "")"
    #expect(failure?.status == status && text.contains(words), "\(text)", sourceLocation: location)
  }

  @Test("A slot that is needed is removed only where that is confirmed, and the last one never") func remove() throws {
    func remove(_ slot: Int64) -> RemoveKeySlot { RemoveKeySlot(slot: slot, isConfirmed: false) }
    expect(.noInput, "no key slot 9", of: remove(9))
    expect(.usage, "the daemon opens the store with this key slot", of: remove(1))
    expect(.usage, "the last passphrase", of: remove(2))
    #expect(try RemoveKeySlot(slot: 2, isConfirmed: true).perform(opened).removed.map(\.id) == [2])
    expect(.usage, "the only key slot", of: RemoveKeySlot(slot: 1, isConfirmed: true))
    let spare = store.path + "/spare.key"
    _ = try AddKeySlot(secret: .init(kind: .keyFile, value: spare)).perform(opened)
    expect(.usage, "none of the other key slots opens with what is here", of: remove(1))
    #expect(try ListKeySlots().perform(opened).slots.map(\.opens) == [.yes, .no])
  }

  @Test("A key file is made where its directory is, and one that is there is only added") func keyFile() throws {
    func add(_ path: String) -> AddKeySlot { AddKeySlot(secret: StoreSecret(kind: .keyFile, value: path)) }
    let stick = store.path + "/stick"
    expect(.cannotCreate, "\(stick)/deep/store.key", of: add("\(stick)/deep/store.key"))
    expect(.cannotCreate, "mounted", of: add("\(stick)/deep/store.key"))
    #expect(!FileManager.default.fileExists(atPath: stick))
    let file = store.path + "/one.key"
    #expect(try add(file).perform(opened).keyFileMade == file)
    expect(.usage, "a slot that opens with this already", of: add(file))
    let typed = store.path + "/typed.key"
    try Data(String(repeating: "1a", count: 32).utf8).write(to: URL(fileURLWithPath: typed))
    chmod(typed, 0o400)
    #expect(try add(typed).perform(opened).keyFileMade == nil)
  }

  @Test("A recovery code is to reach everything: where parts are locked none is added") func locked() throws {
    try store.reopen()
    let locked = OpenedStore(keychain: store.keychain, settings: opened.settings)
    let code = RecoveryCode().revealed()
    expect(.notPermitted, "locked", of: AddKeySlot(secret: .init(kind: .recoveryCode, value: code)), locked)
    expect(
      .notPermitted, "CREDENTIALS_DIRECTORY",
      of: AddKeySlot(secret: .init(kind: .systemdCredential, value: "store_key")), locked)
  }

  private func rotation(_ passphrases: String..., isConfirmed: Bool = true) -> RotateKeys {
    RotateKeys(
      secrets: [.init(kind: .keyFile, value: store.keyFilePath)]
        + passphrases.map { .init(kind: .passphraseOrCode, value: $0) }, isConfirmed: isConfirmed)
  }

  @Test("What was given to stay and opens nothing stops a rotation, whatever is confirmed") func rotate() throws {
    let before = try store.keychain.slots().map(\.number)
    expect(.notPermitted, "mistyped", of: rotation("corect horse battery"))
    expect(.notPermitted, "number 2", of: rotation(Self.passphrase, "corect horse battery"))
    expect(.usage, "not given: 2 (passphrase)", of: rotation(isConfirmed: false))
    // The key file is not lost because it cannot be read, or is another's.
    let right = try Data(contentsOf: URL(fileURLWithPath: store.keyFilePath))
    chmod(store.keyFilePath, 0o644)
    expect(.notPermitted, "chmod 400", of: rotation(Self.passphrase))
    chmod(store.keyFilePath, 0o600)
    for (key, isRight) in [(Data(String(repeating: "ab", count: 32).utf8), false), (right, true)] {
      chmod(store.keyFilePath, 0o600)
      try key.write(to: URL(fileURLWithPath: store.keyFilePath))
      chmod(store.keyFilePath, 0o400)
      if !isRight { expect(.notPermitted, "opens no key slot", of: rotation(Self.passphrase)) }
    }
    #expect(try store.keychain.slots().map(\.number) == before)
    let both = try rotation(Self.passphrase, isConfirmed: false).perform(opened)
    #expect(both.removed.isEmpty)
    #expect(both.text == "The root keys of the store are new, and 0 records and 0 items are under new keys.\n")
    expect(.usage, "the passphrase is needed too", of: rotation())
    _ = try AddKeySlot(secret: .init(kind: .passphrase, value: "another horse")).perform(opened)
    let one = try rotation(Self.passphrase).perform(opened)
    #expect(one.text.contains(" (passphrase) is removed.\n"), "\(one.text)")
  }

  @Test("Items of a device that is gone stop a rotation, and are deleted only where that is asked for")
  func deviceGone() throws {
    try store.keychain.database.write { tx in
      _ = try store.keychain.add(
        NewItem(
          .genericPassword, attributes: [.account: .string("here")], secret: SecretBytes(copying: Array("secret".utf8)),
          accessible: .afterFirstUnlockThisDeviceOnly), in: tx)
    }
    try store.reopen { unlink(store.location.deviceKeyPath) }
    let opened = OpenedStore(keychain: store.keychain, settings: opened.settings)
    var rotation = rotation(Self.passphrase)
    expect(.notPermitted, "--delete-device-items", of: rotation, opened)
    rotation.deletesDeviceItems = true
    #expect(try rotation.perform(opened).text.contains("1 items of a device that is gone"))
  }
}
