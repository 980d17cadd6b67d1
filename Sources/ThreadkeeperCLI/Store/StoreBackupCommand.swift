// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import ThreadkeeperDaemon

/// `threadkeeper store backup`
struct StoreBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Write a copy of the store into one file.",
    discussion: """
      Works beside a running daemon. The file is sealed like the store, and takes what opens the store \
      now: keep the key file in another place. What is for this device only opens nowhere else.

      Examples:
        threadkeeper store backup /media/stick/threadkeeper-monday.tkbackup
        threadkeeper store backup --force /var/backups/threadkeeper.tkbackup
      """)

  @Argument(help: "The file to write.", completion: .file())
  var file: String

  @Flag(help: "Replace the file, once the new one is whole.")
  var force = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let file: String
    let storeID: String
    let items: UInt64
    let bytes: UInt64
    /// Files that a restore on another machine takes besides.
    let notIncluded: [String]

    enum CodingKeys: String, CodingKey {
      case file
      case storeID = "store_id"
      case items, bytes
      case notIncluded = "not_included"
    }
  }

  func run() throws {
    let settings = try options.loadOfStore()
    let keychain = try OpenStore.forReading(settings)
    defer { keychain.close() }
    let progress = ProgressLine("Writing the backup:")
    let made: BackupTrailer
    do {
      defer { progress.end() }
      made = try keychain.backup(to: file, replacing: force) { progress.show($0, of: $1) }
    } catch {
      throw failure(error)
    }
    let report = Report(
      file: file, storeID: made.store.description, items: made.items, bytes: made.databaseLength,
      notIncluded: [settings.store.keyFile, keychain.location.deviceKeyPath])
    try output.show(
      report,
      text: """
        \(made.items) items, \(made.databaseLength / 1024) KiB, are in \(file.printable)

        Not in it, and needed to restore:
          \(settings.store.keyFile.printable), or another way into the store: keep it in another place
        Never in it: \(keychain.location.deviceKeyPath.printable), so what is for this device only
          opens on this machine only.

        """)
  }

  private func failure(_ error: any Error) -> any Error {
    guard let error = error as? KeychainError else { return error }
    switch error.status {
    case .duplicateItem:
      return CommandFailure(.cannotCreate, error.message, remedy: "`--force` replaces it")
    case .noSuchKeychain, .writePermission:
      return CommandFailure(.cannotCreate, error.message)
    case .readOnly:
      return CommandFailure(
        .badInput, error.message,
        remedy: "`threadkeeper store verify` says more; keep the backups that you have")
    default:
      return CommandFailure(error)
    }
  }
}
