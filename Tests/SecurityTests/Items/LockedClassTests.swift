// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import Security
import SodiumCrypto
import Testing

extension OwnKeychain {
  /// A keychain with a passphrase: what is accessible "when unlocked" needs it, and this program
  /// has the key file only.
  @Suite struct LockedClassTests {
    private static let passphrase = "correct horse battery staple"

    private func lockedStore() throws -> ProgramStore {
      let store = try ProgramStore()
      var options = KeychainOptions()
      options.passwordHash = .floor
      let keychain = try Keychain.create(
        at: StoreLocation(directory: store.path + "/store"),
        slots: [
          .keyFile(path: store.path + "/store.key"),
          .passphrase(SecretBytes(copying: Array(Self.passphrase.utf8))),
        ], options: options)
      for (account, accessible) in [
        ("unlocked", Accessibility.whenUnlocked), ("first", .afterFirstUnlock), ("always", .always),
      ] {
        try keychain.write { tx in
          _ = try keychain.add(
            NewItem(
              .genericPassword,
              attributes: [
                .account: .string(account), .service: .string("mail"),
                .accessGroup: .string("team.own"),
              ], secret: SecretBytes(copying: Array(account.utf8)), accessible: accessible), in: tx)
        }
      }
      keychain.close()
      return store
    }

    @Test func aLockedSecretIsRefusedAndTheOthersAreGiven() throws {
      let store = try lockedStore()
      #expect(
        copy(password("unlocked", [kSecReturnData: true])).status == errSecInteractionNotAllowed)
      #expect(copy(password("first", [kSecReturnData: true])).data == Data("first".utf8))
      #expect(copy(password("always", [kSecReturnData: true])).data == Data("always".utf8))
      #expect(
        copy([
          kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll,
          kSecReturnData: true,
        ]).status == errSecInteractionNotAllowed)
      withExtendedLifetime(store) {}
    }

    @Test func attributesAreNoSecretsAndDeletingGivesNothingOut() throws {
      let store = try lockedStore()
      let item = copy(password("unlocked", [kSecReturnAttributes: true])).dictionary
      #expect(item?[kSecAttrAccessible] as? String == kSecAttrAccessibleWhenUnlocked)
      #expect(
        SecItemUpdate(
          password("unlocked") as CFDictionary, [kSecAttrLabel: "x"] as CFDictionary)
          == errSecSuccess)
      #expect(SecItemDelete(password("unlocked") as CFDictionary) == errSecSuccess)
      withExtendedLifetime(store) {}
    }

    @Test func nothingCanBePutIntoALockedClassOrTakenOutOfIt() throws {
      let store = try lockedStore()
      #expect(add(password("new", secret("x"))) == errSecInteractionNotAllowed)
      #expect(
        add(password("new", [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock]))
          == errSecSuccess)
      let changes: [(String, [String: Any])] = [
        ("unlocked", secret("x")),
        ("unlocked", [kSecAttrAccessible: kSecAttrAccessibleAlways]),
        ("first", [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked]),
      ]
      for (account, change) in changes {
        #expect(
          SecItemUpdate(password(account) as CFDictionary, change as CFDictionary)
            == errSecInteractionNotAllowed)
      }
      #expect(copy(password("first", [kSecReturnData: true])).data == Data("first".utf8))
      withExtendedLifetime(store) {}
    }

    @Test func thePassphraseInAFileUnlocks() throws {
      let store = try lockedStore()
      let file = store.path + "/passphrase"
      try Data((Self.passphrase + "\n").utf8).write(to: URL(fileURLWithPath: file))
      chmod(file, 0o600)
      LinuxKeychain.bootstrap(
        .init(directory: store.path, passphraseFile: file, accessGroups: store.groups))
      #expect(copy(password("unlocked", [kSecReturnData: true])).data == Data("unlocked".utf8))
      try Data("wrong".utf8).write(to: URL(fileURLWithPath: file))
      chmod(file, 0o600)
      LinuxKeychain.close()
      #expect(copy(password("unlocked")).status == errSecAuthFailed)
      chmod(file, 0o644)
      #expect(copy(password("unlocked")).status == errSecNotAvailable)
      try FileManager.default.removeItem(atPath: file)
      #expect(copy(password("unlocked")).status == errSecAuthFailed)
    }
  }
}
