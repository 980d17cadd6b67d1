// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import Security
import SodiumCrypto
import Testing

extension OwnKeychain {
  /// Items that stay on this machine.
  @Suite struct DeviceOnlyTests {
    private static let classes: [CFString] = [
      kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
      kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
      kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, kSecAttrAccessibleAlwaysThisDeviceOnly,
    ]

    /// A keychain that is opened by a passphrase in a file.
    private func storeWithPassphrase() throws -> ProgramStore {
      let store = try ProgramStore()
      let file = store.path + "/passphrase"
      let passphrase = "correct horse battery staple"
      // The cheapest that is accepted: a test has no time.
      var options = KeychainOptions()
      options.passwordHash = .floor
      try Keychain.create(
        at: StoreLocation(directory: store.path + "/store"),
        slots: [
          .keyFile(path: store.path + "/store.key"),
          .passphrase(SecretBytes(copying: Array(passphrase.utf8))),
        ], options: options
      ).close()
      try Data((passphrase + "\n").utf8).write(to: URL(fileURLWithPath: file))
      chmod(file, 0o600)
      LinuxKeychain.bootstrap(
        .init(directory: store.path, passphraseFile: file, accessGroups: store.groups))
      return store
    }

    @Test func everyAccessibilityIsKeptAndIsAFilter() throws {
      let store = try ProgramStore()
      for accessible in Self.classes {
        #expect(
          add(
            password(accessible, secret(accessible)).merging([kSecAttrAccessible: accessible]) {
              $1
            })
            == errSecSuccess)
      }
      LinuxKeychain.close()
      for accessible in Self.classes {
        let query: [String: Any] = [
          kSecClass: kSecClassGenericPassword, kSecAttrAccessible: accessible,
          kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnData: true,
        ]
        let found = try #require(copy(query).array)
        #expect(found.map { $0[kSecAttrAccount] as? String } == [accessible])
        #expect(found.map { $0[kSecValueData] as? Data } == [Data(accessible.utf8)])
      }
      withExtendedLifetime(store) {}
    }

    @Test func whenPasscodeSetNeedsAPassphrase() throws {
      let passcode: [String: Any] = [
        kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
      ]
      let store = try ProgramStore()
      #expect(add(password("a", passcode)) == errSecAuthFailed)
      #expect(add(password("a", secret("x"))) == errSecSuccess)
      #expect(
        SecItemUpdate(password("a") as CFDictionary, passcode as CFDictionary) == errSecAuthFailed)
      #expect(copy(password("a", [kSecReturnData: true])).data == Data("x".utf8))
      withExtendedLifetime(store) {}
      let other = try storeWithPassphrase()
      let control = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .userPresence, nil)
      #expect(add(password("a", passcode)) == errSecSuccess)
      #expect(
        add(password("b", [kSecAttrAccessControl: try #require(control)])) == errSecSuccess)
      #expect(
        copy(password("b", [kSecReturnData: true])).status == errSecInteractionNotAllowed)
      withExtendedLifetime(other) {}
    }

    /// Accepted, and the device has the last word.
    @Test func synchronizableAndThisDeviceOnlyGoTogether() throws {
      let store = try ProgramStore()
      let both: [String: Any] = [
        kSecAttrSynchronizable: true,
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      #expect(add(password("a", both)) == errSecSuccess)
      #expect(copy(password("a", both)).status == errSecSuccess)
      withExtendedLifetime(store) {}
    }
  }
}
