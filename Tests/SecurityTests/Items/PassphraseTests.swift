import Foundation
import KeychainCore
import Security
import SodiumCrypto
import Testing

extension OwnKeychain {
  /// A keychain that a passphrase in a file opens, and less of it the key file. Which classes are locked is in
  /// `KeySlotTests` of KeychainCore.
  @Suite struct PassphraseTests {
    private let store = ProgramStore()
    private var file: String { store.path + "/passphrase" }
    private let passcode: [String: Any] = [kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly]

    private func makeStore() throws {
      let passphrase = "correct horse battery staple"
      // The cheapest that is accepted: a test has no time.
      var options = KeychainOptions()
      options.passwordHash = .floor
      try Keychain.create(
        at: StoreLocation(directory: store.path + "/store"),
        slots: [.keyFile(path: store.path + "/store.key"), .passphrase(SecretBytes(copying: Array(passphrase.utf8)))],
        options: options
      ).close()
      try write(passphrase + "\n")
      store.use(passphraseFile: file)
    }

    private func write(_ text: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      chmod(file, 0o600)
    }

    @Test func whenPasscodeSetNeedsAPassphrase() throws {
      #expect(add(password("a", passcode)) == errSecAuthFailed)
      insert(password("a", secret("x")))
      #expect(update(password("a"), passcode) == errSecAuthFailed)
      #expect(text(password("a")) == "x")
      LinuxKeychain.close()
      try FileManager.default.removeItem(atPath: store.path)
      try makeStore()
      insert(password("a", passcode))
      insert(password("b", control(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly)))
      #expect(find(password("b", [kSecReturnData: true])) == errSecInteractionNotAllowed)
    }

    @Test func thePassphraseInAFileUnlocksWhatTheKeyFileDoesNot() throws {
      try makeStore()
      insert(password("unlocked", secret("1")))
      insert(password("first", secret("2"), [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]))
      LinuxKeychain.close()
      #expect(text(password("unlocked")) == "1")
      store.use()
      for query in [password("unlocked"), [kSecClass: kSecClassGenericPassword]] {
        #expect(find(query, [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]) == errSecInteractionNotAllowed)
      }
      #expect(text(password("first")) == "2")
      #expect(find(password("unlocked")) == errSecSuccess)

      store.use(passphraseFile: file)
      try write("wrong")
      #expect(find(password("unlocked")) == errSecAuthFailed)
      chmod(file, 0o644)
      #expect(find(password("unlocked")) == errSecNotAvailable)
      try FileManager.default.removeItem(atPath: file)
      #expect(find(password("unlocked")) == errSecAuthFailed)
    }
  }
}
