// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BridgeProtocol
import KeychainCore
import Settings
import ThreadkeeperDaemon

/// `threadkeeper store restore`
struct StoreRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Put the store of a backup in place.",
    discussion: """
      Stop the daemon first. Every byte of the backup is checked with the key before anything is \
      replaced. Interrupted at any moment, the store is the old one or the new one, whole.

      The backup is opened as the store is: by `store.passphrase`, or else by the key file, then by \
      what systemd hands over, then by what you type.

      What was stored since the backup is lost; routers announce themselves again. The restored store \
      needs no `accept-rollback`.

      With the store come back who was enrolled, what was consented to, the broker's password and the key \
      slots, as of the backup, whatever was revoked, removed or changed since. They are listed: revoke and \
      remove them again.

      Examples:
        threadkeeper store restore /media/stick/threadkeeper-monday.tkbackup
        threadkeeper store restore --yes /var/backups/threadkeeper.tkbackup
      """)

  @Argument(help: "What `threadkeeper store backup` wrote.", completion: .file())
  var file: String

  @Flag(help: "Also when there is a store, which goes.")
  var yes = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let storeID: String
    let items: UInt64
    let replaced: Bool
    /// Changes of the store that the backup does not have; nil where there is no telling how many.
    let changesLost: UInt64?
    /// Items that could not be tried.
    let locked: Int
    /// Why the anchor could not be written, if so.
    let anchorProblem: String?
    /// When the backup was made, as RFC 3339.
    let backupMade: String
    /// Who may have what is in the store, as of that time; nil where it could not be opened to look.
    let access: RestoredAccess?

    enum CodingKeys: String, CodingKey {
      case storeID = "store_id"
      case items, replaced
      case changesLost = "changes_lost"
      case locked
      case anchorProblem = "anchor_problem"
      case backupMade = "backup_made"
      case access
    }
  }

  func run() throws {
    let settings = try options.load()
    try OpenStore.checkMaking(settings)
    let progress = ProgressLine("Reading the backup:")
    let done: RestoreReport
    var isBrokenOff = false
    var lacksAnswer = false
    var typed: SecretText?
    do {
      defer { progress.end() }
      done = try Keychain.restore(
        file, to: OpenStore.location(settings),
        with: try StoreWays.first(settings),
        further: StoreWays.further(settings) { words in
          progress.end()
          do {
            typed = try StoreSecret.askNow(words)
            lacksAnswer = typed == nil
            return typed
          } catch {
            isBrokenOff = error is CancellationError
            throw error
          }
        }, replacing: yes,
        options: OpenStore.audited(KeychainOptions())
      ) { progress.show($0, of: $1) }
    } catch {
      throw isBrokenOff ? CancellationError() : failure(error, lacksAnswer: lacksAnswer)
    }
    let report = Report(
      storeID: done.backup.store.description, items: done.backup.items, replaced: done.replaced,
      changesLost: done.changesLost, locked: done.locked, anchorProblem: done.anchorProblem,
      backupMade: WireTime(milliseconds: done.backup.created / 1_000).description,
      access: try? access(settings, typed))
    try output.show(report, text: text(report))
  }

  /// - Parameter typed: what opened the backup, where a person was asked: nobody is asked twice.
  private func access(_ settings: Settings, _ typed: SecretText?) throws -> RestoredAccess {
    let keychain = try OpenStore.forReading(settings) { _ in typed }
    defer { keychain.close() }
    return try RestoredAccess(keychain)
  }

  private func text(_ report: Report) -> String {
    var text = "\(report.items) items are restored.\n"
    if report.replaced { text += "The store that was there is gone.\n" }
    switch report.changesLost {
    case 0: break
    case let count?:
      text +=
        "The backup is \(count) changes older than the store was; they are lost."
        + " The daemon goes on from here.\n"
    case nil where !report.replaced: break
    case nil:
      text +=
        "What was changed since \(report.backupMade), when the backup was made, is lost. The daemon goes"
        + " on from here.\n"
    }
    if report.locked > 0 {
      text +=
        "\(report.locked) items could not be tried: they are locked, or for another device only.\n"
    }
    if let problem = report.anchorProblem {
      text += "The anchor is not written yet: \(problem). The next start writes it.\n"
    }
    let unseen =
      "The store could not be opened to see who has access. It is as of \(report.backupMade):"
      + " look at `threadkeeper clients list`, `threadkeeper consent grants` and `threadkeeper keys list`.\n"
    return text + (report.access?.text(made: report.backupMade) ?? unseen)
  }

  private func failure(_ error: any Error, lacksAnswer: Bool) -> any Error {
    guard let error = error as? KeychainError else { return error }
    switch error.status {
    case .duplicateKeychain:
      return CommandFailure(
        .cannotCreate, error.message,
        remedy: "`--yes` puts the backup in its place, and what is in it now is gone")
    case .noSuchKeychain:
      return CommandFailure(.noInput, error.message)
    case .writePermission:
      return CommandFailure(.cannotCreate, error.message)
    case .notAvailable where error.lockHolder != nil:
      return CommandFailure(.temporary, error.message, remedy: "stop it, and try again")
    default:
      return StoreWays.failure(error, lacksAnswer: lacksAnswer)
    }
  }
}
