// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import SodiumCrypto

/// `threadkeeper unlock`
struct UnlockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Unlock the running keeper's store.",
    discussion: """
      Asks for the passphrase or a recovery code; a store without a passphrase is unlocked by its key \
      file. Ends with 77 when it is wrong, 69 when no keeper runs.

      Examples:
        threadkeeper unlock
        threadkeeper unlock --passphrase-file - < /run/secrets/passphrase
      """)

  @Option(
    help: ArgumentHelp(
      "The passphrase or the code: the first line of a file that only you can read; `-` is standard"
        + " input.", valueName: "file"))
  var passphraseFile: String?

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try? ProcessHardening.forbidCoreDumps()
    let settings = try options.load()
    let desk = StoreDesk(settings: settings)
    let nobody = "no keeper runs: there is nothing to unlock"
    let now = try await desk.askRunningKeeper(StoreRequest(command: .listKeys), orSay: nobody)
    let report = try await desk.askRunningKeeper(
      StoreRequest(command: .unlock, secret: try secret(settings, isGuarded: now.guarded == true)),
      orSay: nobody)
    try output.show(report, text: "The store is unlocked.\n")
  }

  private func secret(_ settings: Settings, isGuarded: Bool) throws -> StoreSecret {
    if let passphraseFile {
      let text = try PassphraseInput.read(passphraseFile, isNew: false)
      return StoreSecret(kind: .passphraseOrCode, value: text.revealed)
    }
    guard isGuarded else { return StoreSecret(kind: .keyFile, value: settings.store.keyFile) }
    guard let answer = try StoreSecret.askNow("") else { throw PassphraseInput.noTerminal }
    return StoreSecret(kind: .passphraseOrCode, value: answer.revealed)
  }
}
