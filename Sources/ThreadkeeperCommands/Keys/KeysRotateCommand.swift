// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import Settings
import SodiumCrypto

/// `threadkeeper keys rotate`
struct KeysRotateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Give every item new keys.",
    discussion: """
      Reading and writing go on meanwhile. What is interrupted goes on with the next `rotate`, or when \
      the keeper starts. In a running keeper it goes on when this command is stopped.

      With --master the root keys are new too: the way to lock out a key file that leaked. The key file \
      of the settings stays, and the passphrase that is given; all other slots are removed.

      Examples:
        threadkeeper keys rotate
        threadkeeper keys rotate --master --passphrase-file /run/secrets/passphrase
      """)

  @Flag(help: "New root keys too.")
  var master = false

  @Option(
    help: ArgumentHelp(
      "With --master: the passphrase that stays; `-` is standard input.", valueName: "file"))
  var passphraseFile: String?

  @Flag(help: "With --master: also when key slots are removed by it.")
  var yes = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let rotation: StoreReport.Rotation
    let removed: [StoreReport.Slot]
  }

  func run() async throws {
    try? ProcessHardening.forbidCoreDumps()
    let settings = try options.load()
    let request = StoreRequest(
      command: .rotateKeys, isConfirmed: yes, roots: try master ? roots(settings) : nil)
    let desk = StoreDesk(settings: settings)
    let progress = RotationProgressLine()
    let removed: [StoreReport.Slot]
    var rotation: StoreReport.Rotation
    switch try await begin(request, desk) {
    case .byKeeper(let begun):
      removed = begun.removed ?? []
      rotation = begun.rotation ?? .init()
      while rotation.running {
        progress.show(rotation)
        try await Task.sleep(for: .milliseconds(100))
        guard let next = try await desk.askKeeper(StoreRequest(command: .rotation))?.rotation else {
          throw CommandFailure(
            .temporary, "the keeper has ended; the rotation goes on when it starts again")
        }
        rotation = next
      }
    case .here(let keychain):
      defer { keychain.close() }
      try desk.unlockIfAsked(keychain)
      removed = try StoreWork(keychain: keychain, settings: settings).renewRoots(request)
      rotation = .init(running: true)
      let report = try keychain.rotateKeys {
        (rotation.renewed, rotation.items) = ($0.renewed, $0.items)
        progress.show(rotation)
        return true
      }
      rotation.finish(report)
    }
    progress.end()
    if let problem = rotation.problem { throw CommandFailure(.inputOutput, problem) }
    try output.show(Report(rotation: rotation, removed: removed), text: rotation.text)
  }

  private enum Begun: Sendable {
    case byKeeper(StoreReport)
    /// The caller closes it.
    case here(Keychain)
  }

  private func begin(_ request: StoreRequest, _ desk: StoreDesk) async throws -> Begun {
    try await RunningKeeper.orStore(isRepeatable: false) {
      try await desk.askKeeper(request).map { .byKeeper($0) }
    } store: {
      .here(try OpenStore.forWriting(desk.settings))
    }
  }

  private func roots(_ settings: Settings) throws -> [StoreSecret] {
    var roots = [StoreSecret(kind: .keyFile, value: settings.store.keyFile)]
    if let passphraseFile {
      let text = try PassphraseInput.read(passphraseFile, isNew: false)
      roots.append(StoreSecret(kind: .passphraseOrCode, value: text.revealed))
    } else if let passphrase = settings.store.passphrase {
      roots.append(StoreSecret(kind: .passphraseOrCode, value: passphrase.revealed))
    }
    return roots
  }
}

extension StoreReport.Rotation {
  mutating func finish(_ report: RotationReport) {
    running = false
    finished = report.isFinished
    resumed = report.wasPending
    (renewed, locked, damaged) = (report.renewed, report.locked, report.damaged)
    retiredKeys = report.retiredKeys
  }

  var text: String {
    var text = resumed ? "An interrupted rotation is finished: " : ""
    text += "\(renewed) items have new keys, \(retiredKeys) old keys are removed.\n"
    if locked > 0 {
      text +=
        "\(locked) items are locked: their secrets keep the old keys. Unlock, and rotate again.\n"
    }
    if damaged > 0 {
      text +=
        "\(damaged) items are damaged and were left as they are. `threadkeeper store verify`"
        + " names them.\n"
    }
    return text
  }
}

/// One line on a terminal that says how far it is.
private final class RotationProgressLine {
  private let isOn = StandardStream.error.isTerminal

  func show(_ rotation: StoreReport.Rotation) {
    guard isOn, rotation.items > 0 else { return }
    try? StandardStream.error.write("\r\(rotation.renewed) of \(rotation.items) items")
  }

  func end() {
    guard isOn else { return }
    try? StandardStream.error.write("\r\u{1B}[K")
  }
}
