// SPDX-License-Identifier: Apache-2.0

import Glibc
import SQLiteDatabase
import SodiumCrypto

extension StoreOpener {
  /// Makes an empty store and opens it. It is built under another name and put in place whole, so
  /// that a crash leaves nothing that looks like a store.
  ///
  /// - Parameter slots: the ways to open it, at least one. A key file that does not exist is made.
  /// - Throws: `duplicateKeychain` when there is one already.
  static func create(
    at location: StoreLocation, slots: [KeySlotSecret], options: KeychainOptions
  ) throws(KeychainError) -> Keychain {
    guard !slots.isEmpty else {
      throw KeychainError(.param, "a store needs a key file or a passphrase to open it")
    }
    return try KeychainError.wrap("making the store") {
      try Sodium.initialize()
      for directory in [location.directory, location.anchorDirectory] {
        try StoreLocation.makeDirectory(directory)
        try StoreLocation.checkDirectory(directory)
      }
      let lock = try StoreLock(location.lockPath)
      guard !location.hasStore else {
        throw KeychainError(
          .duplicateKeychain, "there is a store at \(location.databasePath) already")
      }
      // SQLite would take it for the new store's, and play it into it.
      for path in location.logPaths where StoreLocation.isThere(path) {
        throw KeychainError(
          .notAvailable, "\(path) is left of a store that is gone: move it away first")
      }
      var madeFiles: [String] = []
      do {
        var secrets: [(KeySlot.Kind, SecretBytes)] = []
        for slot in slots {
          if case .keyFile(let path) = slot, try KeyFile.createIfAbsent(path) {
            madeFiles.append(path)
          }
          secrets.append((slot.kind, try slot.bytes()))
        }
        let arena = KeyArena()
        let store = StoreID.random()
        let builder = StoreBuilder(store: store, arena: arena, options: options, slots: secrets)
        let roots = try build(builder, at: location, options)
        return try open(
          location, lock: lock, access: .readWrite, options: options, arena: arena
        ) { _, _ in roots }
      } catch {
        // Without the store, a key file that was made for it opens nothing.
        if !location.hasStore { for path in madeFiles { unlink(path) } }
        throw error
      }
    }
  }

  private static func build(
    _ builder: StoreBuilder, at location: StoreLocation, _ options: KeychainOptions
  ) throws -> [KeyID: GuardedKey] {
    let path = location.unfinishedPath
    for leftover in [path, path + "-wal", path + "-shm", path + "-journal"] { unlink(leftover) }
    // Made here, so that it is never readable by others, whatever the umask.
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw KeychainError.system("make", path: path) }
    Glibc.close(descriptor)
    do {
      var databaseOptions = SQLiteDatabase.Options()
      databaseOptions.vfs = options.vfs
      let database = try SQLiteDatabase(
        path: path, access: .readWrite(create: false), options: databaseOptions)
      defer { database.close() }
      let roots = try database.write { tx in
        try StoreSchema.create(in: tx)
        return try builder.build(in: tx)
      }
      guard try database.checkpointTruncate() else {
        throw KeychainError(
          .notAvailable, "somebody reads the store while it is made", isTemporary: true)
      }
      database.close()
      try Anchor(path: location.anchorPath(builder.store)).write(1)
      guard rename(path, location.databasePath) == 0 else {
        throw KeychainError.system("put in place", path: location.databasePath)
      }
      StoreLocation.syncDirectory(location.directory)
      return roots
    } catch {
      for leftover in [path, path + "-wal", path + "-shm"] { unlink(leftover) }
      throw error
    }
  }
}
