// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import ThreadkeeperDaemon

/// `threadkeeper store backup`
struct StoreBackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Write a copy of the store into one file.",
    discussion: """
      The daemon makes the backup while it works, and needs free space for a second copy in the store's \
      directory. The file opens with any key slot of the store: its key file, a passphrase, a \
      recovery code. Keep them in another place. What is for this device only opens nowhere else.

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
    let items: Int
    let bytes: Int
    /// Files that a restore on another machine takes besides.
    let notIncluded: [String]

    enum CodingKeys: String, CodingKey {
      case file
      case storeID = "store_id"
      case items, bytes
      case notIncluded = "not_included"
    }
  }

  func run() async throws {
    let settings = try options.loadOfStore()
    let client = MaintenanceClient(settings: settings)
    let (file, force) = (file, force)
    do {
      try BackupDraft.checkIsFree(file, replacing: force)
    } catch {
      throw CommandFailure(maintaining: error)
    }
    let made = try await Interruptible.run(beforehand: "Nothing was written.") {
      try await client.backup(to: file, replacing: force)
    }
    let deviceKey = OpenStore.location(settings).deviceKeyPath
    let report = Report(
      file: file, storeID: made.storeID, items: made.items, bytes: made.bytes,
      notIncluded: [settings.store.keyFile, deviceKey])
    try output.show(
      report,
      text: """
        \(made.items) items, \(made.bytes / 1024) KiB, are in \(file.printable)

        It opens with any key slot of the store: keep a copy of \(settings.store.keyFile.printable),
          a passphrase or a recovery code in another place.
        Never in it: \(deviceKey.printable), so what is for this device only
          opens on this machine only.

        """)
  }
}
