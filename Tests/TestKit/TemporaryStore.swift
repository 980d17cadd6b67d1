// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore

/// An encrypted store of a test's own, opened by a key file, gone with this object.
package final class TemporaryStore {
  private let home: TemporaryDirectory
  package let location: StoreLocation
  package let keyFile: KeySlotSecret
  package private(set) var keychain: Keychain
  private let options: KeychainOptions

  /// - Parameter slots: further ways in.
  package init(options: KeychainOptions = .init(), slots: [KeySlotSecret] = []) throws {
    home = try TemporaryDirectory()
    location = StoreLocation(directory: home.file("store"))
    keyFile = .keyFile(path: home.file("store.key"))
    self.options = options
    keychain = try Keychain.create(at: location, slots: [keyFile] + slots, options: options)
  }

  deinit { keychain.close() }

  /// The directory that all of it lies in.
  package var path: String { home.path }
  package var keyFilePath: String { home.file("store.key") }

  /// Closes the keychain and opens it again; `between` runs while it is closed.
  package func reopen(
    with secret: KeySlotSecret? = nil, access: Keychain.Access = .readWrite,
    between: () throws -> Void = {}
  ) throws {
    keychain.close()
    try between()
    keychain = try Keychain.open(
      at: location, with: secret ?? keyFile, access: access, options: options)
  }

  /// Another keychain on the same store, for reading beside this one.
  package func openBeside(options: KeychainOptions? = nil) throws -> Keychain {
    try Keychain.open(
      at: location, with: keyFile, access: .readOnly, options: options ?? self.options)
  }
}

extension Keychain {
  /// A backup under its name.
  package func backup(
    to path: String, replacing isReplacing: Bool = false,
    progress: (_ done: UInt64, _ total: UInt64) throws -> Void = { _, _ in }
  ) throws(KeychainError) -> BackupTrailer {
    let draft = try BackupDraft(path, replacing: isReplacing)
    let trailer = try backup(into: draft, progress: progress)
    try draft.place()
    return trailer
  }

  /// `BackupRestore.run` in one call.
  package static func restore(
    _ path: String, to location: StoreLocation, with secrets: [KeySlotSecret],
    replacing isReplacing: Bool = false, keyFile: String? = nil, options: KeychainOptions = .init()
  ) throws(KeychainError) -> RestoreReport {
    var restore = BackupRestore(to: location)
    restore.isReplacing = isReplacing
    restore.keyFile = keyFile
    restore.options = options
    return try restore.run(path, with: secrets)
  }
}
