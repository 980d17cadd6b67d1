// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

extension OwnKeychain {
  /// With what a keychain is made and opened.
  @Suite struct WaysInTests {
    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func theKeyFileLiesInTheDirectoryThatIsChosenLast() throws {
      let (first, last) = (try ProgramStore(), try ProgramStore())
      var settings = LinuxKeychain.Settings(directory: first.path, accessGroups: ["own"])
      settings.directory = last.path
      LinuxKeychain.bootstrap(settings)
      #expect(add(password("a")) == errSecSuccess)
      #expect(isThere(last.path + "/store.key"))
      #expect(!isThere(first.path))
    }

    @Test func aKeychainMadeWithAPassphraseHasNoKeyFileBesideIt() throws {
      let store = try ProgramStore()
      let file = store.path + ".passphrase"
      defer { try? FileManager.default.removeItem(atPath: file) }
      try Data("correct horse battery staple\n".utf8).write(to: URL(fileURLWithPath: file))
      chmod(file, 0o600)
      LinuxKeychain.bootstrap(
        .init(directory: store.path, passphraseFile: file, accessGroups: store.groups))
      #expect(add(password("a", secret("x"))) == errSecSuccess)
      #expect(copy(password("a", [kSecReturnData: true])).data == Data("x".utf8))
      #expect(!isThere(store.path + "/store.key"))
      store.use(groups: store.groups)
      #expect(copy(password("a")).status == errSecAuthFailed)
      #expect(!isThere(store.path + "/store.key"), "no new one")
    }
  }
}
