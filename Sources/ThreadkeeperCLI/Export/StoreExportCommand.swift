// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import SodiumCrypto
import ThreadkeeperDaemon

/// `threadkeeper store export`
struct StoreExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the items of the store into one file that a passphrase opens.",
    discussion: """
      To move a home to a new machine: `store import` reads it there, whatever keys that store has. \
      The passphrase is the file's own and all that protects it: take a long one. Works beside a \
      running daemon. A backup, which the store's keys open, is `store backup`.

      In it are Thread credentials, who owns them, the preferred network, the broker's password, \
      items of programs, enrolled clients, consents, and the daemon's own private keys. Not in it: items \
      for this device only, the store's keys, the audit, and the list of routers, which comes back when \
      they announce themselves.

      Exits 65 when damaged items had to be left out; the file is written all the same. Exits 77 when \
      items are locked, 73 when the file is there already or cannot be made.

      Examples:
        threadkeeper store export /media/stick/home.tkexport
        threadkeeper store export --passphrase-file - home.tkexport \\
          < /run/secrets/export
      """)

  @Argument(help: "The file to write.", completion: .file())
  var file: String

  @Flag(help: "Replace the file, once the new one is whole.")
  var force = false

  @Option(
    help: ArgumentHelp(
      "The passphrase: the first line of a file that only you can read; `-` is standard input.",
      valueName: "file"))
  var passphraseFile: String?

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let file: String
    let storeID: String
    let items: Int
    let bytes: Int
    /// Items that do not open.
    let damaged: Int
    /// Items for this device only, by class.
    let leftOut: [String: Int]
  }

  func run() async throws {
    try? ProcessHardening.forbidCoreDumps()
    let settings = try options.loadOfStore()
    do {
      try ExportDraft.checkIsFree(file, replacing: force)
    } catch {
      throw CommandFailure(exchanging: error)
    }
    let given = try ExportPassphrase.given(passphraseFile, isNew: true)
    let client = ExportClient(settings: settings, words: "Writing the export:")
    let (file, force) = (file, force)
    // All in one: once signals were caught, they end nothing any more.
    let made = try await Interruptible.run(beforehand: "Nothing was written.") {
      let passphrase = if let given { given } else { try await ExportPassphrase.new() }
      let keychain = try await client.openHere { try $0.lockedForExport() > 0 }
      defer { keychain?.close() }
      do {
        let draft = try ExportDraft(file, replacing: force)
        let made = try await client.export(
          StoreMethods.Export(passphrase: passphrase, file: ExportPassphrase.absolute(file)),
          to: draft, in: keychain)
        try draft.place()
        return made
      } catch let error as KeychainError {
        throw CommandFailure(exchanging: error)
      } catch is DaemonClient.LeftOpen {
        // Whatever the daemon wrote, it has no name.
        throw CancellationError()
      }
    }
    let report = Report(
      file: file, storeID: made.storeID, items: made.items, bytes: made.bytes,
      damaged: made.damaged, leftOut: made.notInExport)
    try output.show(report, text: text(report))
    guard made.damaged == 0 else {
      throw CommandFailure(
        .badInput, "\(made.damaged) items are damaged, and are not in the export",
        remedy: "`threadkeeper store verify` says more; a backup may have them")
    }
  }

  private func text(_ report: Report) -> String {
    var text =
      "\(report.items) items, \((report.bytes + 1023) / 1024) KiB, are in \(file.printable)\n"
    let count = report.leftOut.values.reduce(0, +)
    if count > 0 {
      text += "Left out, because they are for this device only:\n"
      text += Accessibility.lines(report.leftOut)
    }
    return text + """

      Who has the file and the passphrase has every secret in it. Without the passphrase nobody \
      reads it.

      """
  }
}
