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

    @Test("Other settings of the same store keep it open, those of another key slot open it again")
    func theSameStoreStaysOpen() throws {
      let store = try ProgramStore()
      #expect(add(password("a", secret("x"))) == errSecSuccess)
      // Whoever opens it from now on needs this file.
      let key = store.path + "/store.key"
      try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
      let reports = Reports()
      LinuxKeychain.bootstrap(
        .init(
          directory: store.path, accessGroups: ["elsewhere"], report: { reports.note($0, $1) }))
      #expect(copy(password("a")).status == errSecItemNotFound, "the new groups count")
      #expect(
        copy(password("a", [kSecAttrAccessGroup: "team.own"])).status == errSecMissingEntitlement)
      #expect(reports.all.map(\.0) == [errSecMissingEntitlement], "and so does the new report")
      LinuxKeychain.bootstrap(
        .init(directory: store.path, keyFile: key + ".other", accessGroups: store.groups))
      #expect(copy(password("a")).status == errSecAuthFailed)
      LinuxKeychain.bootstrap(
        .init(directory: store.path, keyFile: key + ".away", accessGroups: store.groups))
      #expect(copy(password("a", [kSecReturnData: true])).data == Data("x".utf8))
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
