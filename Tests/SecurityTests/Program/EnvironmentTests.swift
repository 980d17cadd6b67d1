// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

/// In processes of their own, because the environment is the process's.
@Suite struct EnvironmentTests {
  @Test func theDefaultIsAKeychainOfTheUserAndAGroupOfTheProgram() async {
    await #expect(processExitsWith: .success) {
      for name in ["DIRECTORY", "KEY_FILE", "PASSPHRASE_FILE", "GROUPS"] {
        unsetenv("THREADKEEPER_KEYCHAIN_" + name)
      }
      unsetenv("XDG_DATA_HOME")
      setenv("HOME", "/dev/null/anna", 1)
      let settings = LinuxKeychain.settings
      precondition(settings.directory == "/dev/null/anna/.local/share/threadkeeper/keychain")
      precondition(settings.keyFile == nil)
      precondition(settings.passphraseFile == nil)
      let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let name = executable?.split(separator: "/").last.map(String.init)
      precondition(settings.accessGroups == [name])
    }
  }

  @Test func theDataDirectoryOfTheUserGoesFirstUnlessItIsRelative() async {
    await #expect(processExitsWith: .success) {
      unsetenv("THREADKEEPER_KEYCHAIN_DIRECTORY")
      setenv("HOME", "/dev/null/anna", 1)
      setenv("XDG_DATA_HOME", "/dev/null/data", 1)
      precondition(
        LinuxKeychain.Settings().directory == "/dev/null/data/threadkeeper/keychain")
      setenv("XDG_DATA_HOME", "data", 1)
      precondition(
        LinuxKeychain.Settings().directory
          == "/dev/null/anna/.local/share/threadkeeper/keychain")
      unsetenv("XDG_DATA_HOME")
      unsetenv("HOME")
      precondition(LinuxKeychain.Settings().directory == nil)
      precondition(add(password("a")) == errSecNoDefaultKeychain)
      precondition(copy(password("a")).status == errSecNoDefaultKeychain)
    }
  }

  @Test("With THREADKEEPER_KEYCHAIN_REPORT=stderr the reasons are printed, and without it nothing")
  func report() async throws {
    let printed = try await #require(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      unsetenv("THREADKEEPER_KEYCHAIN_DIRECTORY")
      unsetenv("XDG_DATA_HOME")
      unsetenv("HOME")
      unsetenv("THREADKEEPER_KEYCHAIN_REPORT")
      LinuxKeychain.bootstrap(.init())
      precondition(copy(password("a", [kSecMatchLimit: 0])).status == errSecParam)
      setenv("THREADKEEPER_KEYCHAIN_REPORT", "stderr", 1)
      LinuxKeychain.bootstrap(.init())
      precondition(add(password("a")) == errSecNoDefaultKeychain)
    }
    let text = String(decoding: printed.standardErrorContent, as: UTF8.self)
    #expect(text.contains("keychain: -25307: nothing says where the keychain lies: set HOME"))
    #expect(!text.contains("keychain: -50"))
  }

  @Test(
    "A directory that cannot be made reports -61 and its path",
    arguments: ["/dev/null/anna", "/proc/anna"])
  func noPlace(home: String) async throws {
    let printed = try await #require(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { [home = home as String] in
      unsetenv("THREADKEEPER_KEYCHAIN_DIRECTORY")
      setenv("XDG_DATA_HOME", home, 1)
      setenv("THREADKEEPER_KEYCHAIN_REPORT", "stderr", 1)
      precondition(copy(password("a")).status == errSecItemNotFound)
      precondition(add(password("a")) == errSecWrPerm)
    }
    let text = String(decoding: printed.standardErrorContent, as: UTF8.self)
    #expect(text.contains("keychain: -61: cannot make the directory \(home)"))
  }

  @Test func variablesChoose() async {
    await #expect(processExitsWith: .success) {
      setenv("THREADKEEPER_KEYCHAIN_DIRECTORY", "/dev/null/keychain", 1)
      setenv("THREADKEEPER_KEYCHAIN_KEY_FILE", "/dev/null/key", 1)
      setenv("THREADKEEPER_KEYCHAIN_PASSPHRASE_FILE", "/dev/null/passphrase", 1)
      setenv("THREADKEEPER_KEYCHAIN_GROUPS", "hub, 9XUJ7M53NG.shared,,hub", 1)
      let settings = LinuxKeychain.settings
      precondition(settings.directory == "/dev/null/keychain")
      precondition(settings.keyFile == "/dev/null/key")
      precondition(settings.passphraseFile == "/dev/null/passphrase")
      precondition(settings.accessGroups == ["hub", "9XUJ7M53NG.shared", "hub"])
      // What the program says goes first.
      let own = LinuxKeychain.Settings(directory: "/elsewhere", accessGroups: ["own"])
      precondition(own.directory == "/elsewhere")
      precondition(own.keyFile == "/dev/null/key")
      precondition(own.accessGroups == ["own"])
      // Empty is not set.
      setenv("THREADKEEPER_KEYCHAIN_KEY_FILE", "", 1)
      precondition(LinuxKeychain.Settings().keyFile == nil)
    }
  }

  @Test func aProgramThatSaysNothingHasAKeychainThatLasts() async throws {
    let home = NSTemporaryDirectory() + "/keychain-home-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: home) }
    await #expect(processExitsWith: .success) { [home = home as String] in
      unsetenv("THREADKEEPER_KEYCHAIN_DIRECTORY")
      setenv("XDG_DATA_HOME", home, 1)
      precondition(add(password("a", secret("lasting"))) == errSecSuccess)
    }
    await #expect(processExitsWith: .success) { [home = home as String] in
      unsetenv("THREADKEEPER_KEYCHAIN_DIRECTORY")
      setenv("XDG_DATA_HOME", home, 1)
      precondition(copy(password("a", [kSecReturnData: true])).data == Data("lasting".utf8))
    }
    let files = FileManager.default
    let keychain = home + "/threadkeeper/keychain"
    for (path, mode) in [
      ("", 0o700), ("/store", 0o700), ("/store/store.sqlite3", 0o600), ("/store.key", 0o400),
    ] {
      let attributes = try files.attributesOfItem(atPath: keychain + path)
      #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
    }
  }
}
