// SPDX-License-Identifier: Apache-2.0

import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A store that is open, and the file that it is.
struct OpenedStore {
  let keychain: Keychain
  let upkeep: StoreUpkeep
  private let file: FileIdentity?

  /// Whether the open file still has its name.
  var isInPlace: Bool {
    file != nil && file == FileIdentity(keychain.location.databasePath)
  }

  /// Opens the store that the settings name; nil when there is none and none is to be made.
  init?(_ settings: LinuxKeychain.Settings, makingStore: Bool) throws(KeychainError) {
    guard let directory = settings.directory else {
      throw KeychainError(
        .noDefaultKeychain,
        "nothing says where the keychain lies: set HOME, XDG_DATA_HOME (absolute paths) or"
          + " THREADKEEPER_KEYCHAIN_DIRECTORY")
    }
    let location = StoreLocation(directory: directory + "/store")
    var ways: [KeySlotSecret] = []
    if let path = settings.passphraseFile {
      ways.append(try .passphrase(inFile: path))
      // A key file that nobody asked for would lie beside what the passphrase is to protect.
      if let keyFile = settings.keyFile { ways.append(.keyFile(path: keyFile)) }
    } else {
      ways.append(.keyFile(path: settings.keyFile ?? directory + "/store.key"))
    }
    if try location.holdsStore() {
      // Whoever can change what lies in it can change the keys and the anchor.
      try StoreLocation.checkDirectory(directory)
    } else {
      guard makingStore else { return nil }
      try Self.makeStore(at: location, ways)
      try StoreLocation.checkDirectory(directory)
    }
    var options = KeychainOptions()
    options.upkeep = .gathered
    keychain = try Keychain.open(
      at: location, with: ways[0], access: .shared, options: options)
    upkeep = StoreUpkeep(keychain)
    file = FileIdentity(location.databasePath)
    try verifyIfLarge(settings)
  }

  /// A small store was compared with its manifest when it was opened. A large one is now, and nobody
  /// waits for it: if it is not what it should be, it takes no changes from then on.
  private func verifyIfLarge(_ settings: LinuxKeychain.Settings) throws(KeychainError) {
    guard try keychain.owesVerification() else { return }
    DispatchQueue.global(qos: .utility).async { [keychain] in
      do throws(KeychainError) {
        try keychain.verify()
        try keychain.checkWritable()
      } catch {
        // Later settings of the same store leave it open.
        let latest = ProgramKeychain.shared.settings
        let current = latest.opensSameStore(as: settings) ? latest : settings
        current.report?(error.status.rawValue, error.message)
      }
    }
  }

  /// Another process may do the same at the same moment: one of both makes it.
  private static func makeStore(
    at location: StoreLocation, _ ways: [KeySlotSecret]
  ) throws(KeychainError) {
    for _ in 0..<500 {
      do {
        try Keychain.create(at: location, slots: ways).close()
        return
      } catch {
        if Keychain.exists(at: location) { return }
        guard error.lockHolder != nil else { throw error }
        usleep(20_000)
      }
    }
    throw KeychainError(.notAvailable, "another process takes too long to make the keychain")
  }
}

/// Tells a file from another that has its name later.
private struct FileIdentity: Equatable {
  private let device: dev_t
  private let number: ino_t

  /// Nil when there is no such file.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = status.st_dev
    number = status.st_ino
  }
}
