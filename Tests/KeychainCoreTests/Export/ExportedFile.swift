// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit

/// An export for tests: a file that can be altered.
final class ExportedFile {
  static let passphrase = "correct horse battery staple"

  let directory: TemporaryDirectory
  var path: String { directory.file("home.tkexport") }

  init() throws { directory = try TemporaryDirectory() }

  /// As cheap as an export may be.
  static func options() -> KeychainOptions {
    var options = KeychainOptions()
    options.passwordHash = .floor
    options.auditor = "a test"
    return options
  }

  /// Two stores: one to be exported, with items of these accounts, and an empty one.
  static func stores(_ accounts: [String] = []) throws -> (from: TemporaryStore, to: TemporaryStore)
  {
    let from = try TemporaryStore(options: options())
    for account in accounts { try from.keychain.add(Sample.password(account)) }
    return (from, try TemporaryStore(options: options()))
  }

  func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

  /// Files of exports that are not in place.
  func drafts() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.file("."))
      .filter { $0.contains(".new") }
  }

  func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

  @discardableResult
  func export(_ keychain: Keychain, passphrase: String = passphrase) throws -> ExportReport {
    let draft = try ExportDraft(path, replacing: true)
    let report = try keychain.exportItems(
      to: draft.descriptor, name: path, passphrase: Sample.secret(passphrase))
    try draft.place()
    return report
  }

  @discardableResult
  func `import`(
    to keychain: Keychain, passphrase: String = passphrase, _ plan: ItemImport = ItemImport()
  ) throws -> ImportReport {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? file.close() }
    return try keychain.importItems(
      from: file.fileDescriptor, name: path, passphrase: Sample.secret(passphrase), plan)
  }
}

extension Keychain {
  /// All that a store has, as text that can be compared: with secrets, without rows and ids.
  func portrait() throws -> [String] {
    try database.read { tx in
      try items(matching: ItemQuery(synchronizable: .any), in: tx).map { item in
        let secret = try secret(of: item, in: tx).withUnsafeBytes { Array($0) }
        let attributes = item.attributes.sorted { $0.key.rawValue < $1.key.rawValue }
        return "\(item.itemClass.code) \(item.accessible.code) \(attributes) \(secret)"
      }.sorted()
    }
  }
}
