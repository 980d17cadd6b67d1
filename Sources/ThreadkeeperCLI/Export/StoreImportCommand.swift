// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import KeychainCore
import SodiumCrypto
import ThreadkeeperDaemon

extension ItemImport.OnConflict: ExpressibleByArgument {}

/// `threadkeeper store import`
struct StoreImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Take the items of an export into the store.",
    discussion: """
      Every byte of the file is checked before anything is written, and then all of it is written, or \
      nothing. Works beside a running daemon, whose events wait while it writes. On a new machine run \
      `threadkeeper init` first.

      Enrolled clients, consents "always" and the daemon's own keys come in as of the time of the export, and \
      are listed: revoke again here who was revoked since. So a store that has clients, consents "always" or \
      border routers of its own takes the credentials and the preferred network only: say --credentials-only. \
      Consents for users of the other machine, requests that waited, past decisions and what a router was \
      being sent never come.

      Items that are here already, the same, stay as they are. Where one is here with other contents, \
      nothing is imported, and they are listed, without secrets; --on-conflict says which stays: keep \
      those that are here, or replace them.

      Exits 73 when there are conflicts or access rights here, 77 when the passphrase is wrong or the store is locked, 65 when \
      the file is damaged, cut off, no export, or contradicts itself, 66 when there is no file or no store.

      Examples:
        threadkeeper store import --dry-run /media/stick/home.tkexport
        threadkeeper store import /media/stick/home.tkexport
        threadkeeper store import --credentials-only --on-conflict keep \\
          --passphrase-file - home.tkexport < secret
      """)

  @Argument(help: "What `threadkeeper store export` wrote.", completion: .file())
  var file: String

  @Option(help: "What becomes of items that are here with other contents: refuse, keep or replace.")
  var onConflict = ItemImport.OnConflict.refuse

  @Flag(help: "Take credentials and the preferred network only.")
  var credentialsOnly = false

  @Flag(help: "Only say what would happen.")
  var dryRun = false

  @Option(
    help: ArgumentHelp(
      "The passphrase: the first line of a file that only you can read; `-` is standard input.",
      valueName: "file"))
  var passphraseFile: String?

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let outcome: ImportOutcome
    let conflicts: [ImportConflict]
    let clients: [String]
    let consents: [String]
    let dryRun: Bool

    init(_ outcome: ImportOutcome, _ names: [ImportedName], dryRun: Bool) {
      self.outcome = outcome
      conflicts = names.compactMap(\.conflict)
      clients = names.compactMap(\.client)
      consents = names.compactMap(\.consent)
      self.dryRun = dryRun
    }

    enum CodingKeys: String, CodingKey {
      case conflicts = "conflicting"
      case clients, consents, dryRun
    }

    func encode(to encoder: any Encoder) throws {
      try outcome.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(conflicts, forKey: .conflicts)
      try container.encode(clients, forKey: .clients)
      try container.encode(consents, forKey: .consents)
      try container.encode(dryRun, forKey: .dryRun)
    }
  }

  func run() async throws {
    try? ProcessHardening.forbidCoreDumps()
    let settings = try options.loadOfStore()
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(
        .noInput, "can't read \(file): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    let given = try ExportPassphrase.given(passphraseFile, isNew: false)
    let client = ExportClient(settings: settings, words: "Reading the export:")
    let (file, onConflict, dryRun, only) = (file, onConflict, dryRun, credentialsOnly)
    let report = try await Interruptible.run(
      inDoubt: "The running daemon may have imported it all the same: `threadkeeper audit` tells."
    ) {
      // All in one: once signals were caught, they end nothing any more.
      let passphrase = if let given { given } else { try await ExportPassphrase.existing() }
      let keychain = try await client.openHere { _ in true }
      defer { keychain?.close() }
      let request = StoreMethods.Import(
        passphrase: passphrase, file: ExportPassphrase.absolute(file), onConflict: onConflict,
        dryRun: dryRun, credentialsOnly: only)
      let (outcome, names) = try await client.importItems(request, from: descriptor, in: keychain)
      return Report(outcome, names, dryRun: dryRun)
    }
    try output.show(report, text: text(report))
    guard report.outcome.conflicts == 0 || onConflict != .refuse else {
      throw CommandFailure(
        .cannotCreate,
        "\(report.outcome.conflicts) items are here already, with other contents: nothing is imported",
        remedy:
          "--on-conflict keep leaves those that are here, --on-conflict replace those of the export"
      )
    }
  }
}
