// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import Settings
import SodiumCrypto
import ThreadkeeperDaemon

/// `threadkeeper keys rotate`
struct KeysRotateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Give every item new keys.",
    discussion: """
      Reading and writing go on meanwhile. What is interrupted goes on with the next `rotate`, or when \
      the daemon starts. In a running daemon it goes on when this command is stopped.

      With --master the root keys are new too: the way to lock out a key file that leaked. From that \
      moment nothing is written that a leaked key opens. While another rotation is under way it is refused \
      (75): run it again when that is over; an interrupted one is finished first. The \
      key file of the settings stays, and what is given with --passphrase-file, or else \
      `store.passphrase`, or what you type; all other slots are removed. If one of these opens nothing, or \
      the key file is there and cannot be read, nothing is done.

      Examples:
        threadkeeper keys rotate
        threadkeeper keys rotate --master --passphrase-file /run/secrets/passphrase
      """)

  @Flag(help: "New root keys too.")
  var master = false

  @Option(
    help: ArgumentHelp(
      "With --master: a passphrase or recovery code that stays, the first line of a file; `-` is"
        + " standard input. May be repeated.", valueName: "file"))
  var passphraseFile: [String] = []

  @Flag(help: "With --master: also when key slots are removed by it, or items deleted.")
  var yes = false

  @Flag(
    help: ArgumentHelp(
      "With --master: delete the items for this device only whose device.key is gone, or is another's."
        + " Not while it is there and cannot be read."))
  var deleteDeviceItems = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let rotation: StoreReport.Rotation
    let removed: [StoreReport.Slot]
    /// Items for this device only that wait for their device key, and such that were deleted.
    let waiting: Int
    let deleted: Int
    /// What is wrong with the device key in its place.
    let deviceKeyProblem: String?
    /// Its file was lost, and is written again.
    let deviceKeyWritten: Bool
  }

  func validate() throws {
    guard master || !deleteDeviceItems else {
      throw ValidationError("--delete-device-items goes with --master.")
    }
  }

  func run() async throws {
    try? ProcessHardening.forbidCoreDumps()
    let settings = try options.loadOfStore()
    let client = StoreClient(settings: settings)
    let request = KeysMethods.Rotation(
      roots: try await master ? roots(client) : nil, isConfirmed: yes,
      deletesDeviceItems: deleteDeviceItems)
    let watch = RotationWatch()
    let begun = try await Interruptible.run(orSay: { watch.wordsOfStop }) {
      do {
        defer { watch.end() }
        return try await rotate(request, client, watch)
      } catch {
        throw watch.tellRoots(before: error)
      }
    }
    let report = Report(
      rotation: watch.rotation, removed: begun.removed ?? [], waiting: begun.waiting ?? 0,
      deleted: begun.deleted ?? 0, deviceKeyProblem: begun.deviceKeyProblem,
      deviceKeyWritten: begun.deviceKeyWritten ?? false)
    try output.show(report, text: watch.rotation.text + begun.textOfRoots)
  }

  private func rotate(
    _ request: KeysMethods.Rotation, _ client: StoreClient, _ watch: RotationWatch
  ) async throws -> StoreReport {
    let keychain = try await client.openHere { _ in request.roots == nil }
    defer { keychain?.close() }
    guard let keychain else {
      watch.askFor(newRoots: request.roots != nil)
      return try await follow(request, client, watch)
    }
    return try await RotationHere(keychain: keychain, client: client, watch: watch).run(request)
  }

  /// Has the daemon do it. Returns what the beginning came to; `watch` has the rest.
  private func follow(
    _ request: KeysMethods.Rotation, _ client: StoreClient, _ watch: RotationWatch
  ) async throws -> StoreReport {
    var begun: StoreReport?
    do {
      _ = try await client.rotate(request) { report in
        if begun == nil {
          begun = report
          if request.roots != nil { watch.note(newRoots: report) }
        }
        watch.show(report.rotation ?? .init(), by: .daemon)
      }
    } catch {
      // It has ended in the middle of the rotation, not of the beginning.
      guard begun != nil, (error as? CommandFailure)?.status == .temporary else { throw error }
    }
    if let failure = watch.rotation.failure { throw failure }
    guard let begun, watch.rotation.finished else {
      if try await client.isDaemonThere() {
        throw CommandFailure(
          .temporary, "the connection to the daemon has ended: \(watch.words)",
          remedy: "the daemon goes on with the rotation: `threadkeeper status` tells")
      }
      throw CommandFailure(
        .temporary, "the daemon has ended: \(watch.words)",
        remedy: watch.rotation.queued == true
          ? "the rotation had not begun: rotate again"
          : "it goes on with the rotation when it starts again")
    }
    return begun
  }

  private func roots(_ client: StoreClient) async throws -> [StoreSecret] {
    let settings = client.settings
    var roots = [StoreSecret(kind: .keyFile, value: settings.store.keyFile)]
    for file in passphraseFile {
      let text = try PassphraseInput.read(file, isNew: false)
      roots.append(StoreSecret(kind: .passphraseOrCode, value: text.revealed))
    }
    guard roots.count == 1 else { return roots }
    if let passphrase = settings.store.passphrase {
      return roots + [StoreSecret(kind: .passphraseOrCode, value: passphrase.revealed)]
    }
    guard TerminalPrompt.isPossible,
      try await client.list().slots?.contains(where: { $0.kind == "passphrase" }) == true,
      let answer = try StoreSecret.askNow("New root keys are sealed for the passphrase, too.\n")
    else { return roots }
    return roots + [StoreSecret(kind: .passphraseOrCode, value: answer.revealed)]
  }
}
