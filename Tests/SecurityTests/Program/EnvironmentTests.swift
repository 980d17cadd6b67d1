import Foundation
import TestKit
import Testing

@testable import Security

/// What a program's environment says about its keychain.
@Suite struct EnvironmentTests {
  private static let prefix = "THREADKEEPER_KEYCHAIN_"
  private static let own = "/dev/null/anna/.local/share/threadkeeper/keychain"

  private static let directories: [([String: String], String?)] = [
    (["HOME": "/dev/null/anna"], own), (["HOME": "/dev/null/anna", "XDG_DATA_HOME": "data"], own),
    (["HOME": "/dev/null/anna", "XDG_DATA_HOME": "/dev/null/data"], "/dev/null/data/threadkeeper/keychain"),
    (["HOME": "/dev/null/anna", prefix + "DIRECTORY": "/dev/null/keychain"], "/dev/null/keychain"), ([:], nil),
  ]

  @Test(arguments: directories) func theDirectoryIsTheUsersUnlessItIsNamed(
    _ variables: [String: String], _ path: String?
  ) { #expect(ProgramEnvironment(variables).directory == path) }

  @Test func variablesChooseAndEmptyOnesAreNotSet() {
    for variables in [[:], [Self.prefix + "KEY_FILE": "", Self.prefix + "GROUPS": ""]] {
      let found = ProgramEnvironment(variables, executable: "/usr/bin/hub")
      #expect(found.keyFile == nil && found.passphraseFile == nil)
      #expect(found.accessGroups == ["hub"])
    }
    let named = ProgramEnvironment([
      Self.prefix + "KEY_FILE": "/dev/null/key", Self.prefix + "PASSPHRASE_FILE": "/dev/null/words",
      Self.prefix + "GROUPS": "hub, 9XUJ7M53NG.shared,,hub",
    ])
    #expect(named.keyFile == "/dev/null/key" && named.passphraseFile == "/dev/null/words")
    #expect(named.accessGroups == ["hub", "9XUJ7M53NG.shared", "hub"])
  }

  /// In a process of its own, because the environment is the process's.
  @Test("What a program does not say comes from the environment, and reasons are printed if that says so")
  func program() async throws {
    let printed = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      for name in ["DIRECTORY", "KEY_FILE", "PASSPHRASE_FILE", "GROUPS", "REPORT"] {
        unsetenv("THREADKEEPER_KEYCHAIN_" + name)
      }
      for name in ["HOME", "XDG_DATA_HOME"] { unsetenv(name) }
      precondition(find(password("a", [kSecMatchLimit: 0])) == errSecParam)
      let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      precondition(LinuxKeychain.settings.accessGroups == [(executable as NSString).lastPathComponent])
      setenv("THREADKEEPER_KEYCHAIN_REPORT", "stderr", 1)
      LinuxKeychain.bootstrap(.init())
      precondition(add(password("a")) == errSecNoDefaultKeychain)
      precondition(find(password("a")) == errSecNoDefaultKeychain)
      setenv("THREADKEEPER_KEYCHAIN_KEY_FILE", "/dev/null/key", 1)
      let own = LinuxKeychain.Settings(directory: "/elsewhere", accessGroups: ["own"])
      precondition(own.directory == "/elsewhere" && own.accessGroups == ["own"])
      precondition(own.keyFile == "/dev/null/key")
    }
    let text = String(decoding: printed.standardErrorContent, as: UTF8.self)
    #expect(text.contains("keychain: -25307: nothing says where the keychain lies: set HOME"))
    #expect(!text.contains("keychain: -50"))
  }

  @Test("A directory that cannot be made reports -61 and its path") func noPlace() async throws {
    let printed = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      unsetenv("THREADKEEPER_KEYCHAIN_DIRECTORY")
      setenv("THREADKEEPER_KEYCHAIN_REPORT", "stderr", 1)
      for home in ["/etc/passwd/anna", "/proc/anna"] {
        setenv("XDG_DATA_HOME", home, 1)
        LinuxKeychain.bootstrap(.init())
        precondition(find(password("a")) == errSecItemNotFound)
        precondition(add(password("a")) == errSecWrPerm)
      }
    }
    let text = String(decoding: printed.standardErrorContent, as: UTF8.self)
    for home in ["/etc/passwd/anna", "/proc/anna"] {
      #expect(text.contains("keychain: -61: cannot make the directory \(home)"))
    }
  }

  @Test func aProgramThatSaysNothingHasAKeychainThatLasts() async throws {
    let home = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [home = home.path as String] in
      unsetenv("THREADKEEPER_KEYCHAIN_DIRECTORY")
      setenv("XDG_DATA_HOME", home, 1)
      precondition(add(password("a", secret("lasting"))) == errSecSuccess)
      LinuxKeychain.close()
      precondition(text(password("a")) == "lasting")
    }
    for (path, mode) in [("", 0o700), ("/store", 0o700), ("/store/store.sqlite3", 0o600), ("/store.key", 0o400)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: home.file("threadkeeper/keychain" + path))
      #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
    }
  }
}

extension OwnKeychain {
  /// With what a keychain is made and opened.
  @Suite struct WaysInTests {
    private let store = ProgramStore()

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func theKeyFileLiesInTheDirectoryThatIsChosenLast() {
      let (first, last) = (store, ProgramStore())
      var settings = LinuxKeychain.Settings(directory: first.path, accessGroups: ["own"])
      settings.directory = last.path
      LinuxKeychain.bootstrap(settings)
      insert(password("a"))
      #expect(isThere(last.path + "/store.key"))
      #expect(!isThere(first.path))
    }

    @Test("Other settings of the same store keep it open, those of another key slot open it again")
    func theSameStoreStaysOpen() throws {
      insert(password("a", secret("x")))
      // Whoever opens it from now on needs this file.
      let key = store.path + "/store.key"
      try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
      let reports = Reports()
      store.use(groups: ["elsewhere"], report: reports)
      #expect(find(password("a")) == errSecItemNotFound, "the new groups count")
      #expect(find(password("a", [kSecAttrAccessGroup: "team.own"])) == errSecMissingEntitlement)
      #expect(reports.all.map(\.0) == [errSecMissingEntitlement], "and so does the new report")
      for (suffix, status) in [(".other", errSecAuthFailed), (".away", errSecSuccess)] {
        LinuxKeychain.bootstrap(.init(directory: store.path, keyFile: key + suffix, accessGroups: ["team.own"]))
        #expect(find(password("a")) == status)
      }
    }

    @Test func aKeychainMadeWithAPassphraseHasNoKeyFileBesideIt() throws {
      let file = store.path + ".passphrase"
      defer { try? FileManager.default.removeItem(atPath: file) }
      try Data("correct horse battery staple\n".utf8).write(to: URL(fileURLWithPath: file))
      chmod(file, 0o600)
      store.use(passphraseFile: file)
      insert(password("a", secret("x")))
      #expect(text(password("a")) == "x")
      #expect(!isThere(store.path + "/store.key"))
      store.use()
      #expect(find(password("a")) == errSecAuthFailed)
      #expect(!isThere(store.path + "/store.key"), "no new one")
    }
  }
}
