// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Settings
import SodiumCrypto
import ThreadkeeperDaemon

/// `threadkeeper unlock`
struct UnlockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock",
    abstract: "Unlock the running daemon's store.",
    discussion: """
      Asks for the passphrase or a recovery code; a store without a passphrase is unlocked by its key \
      file. Ends with 77 when it is wrong, 69 when no daemon runs.

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
    let settings = try options.loadOfStore()
    let client = StoreClient(settings: settings)
    let nobody = "no daemon runs: there is nothing to unlock"
    // Read before signals are caught: one ends the reading.
    let given = try passphraseFile.map {
      StoreSecret(
        kind: .passphraseOrCode, value: try PassphraseInput.read($0, isNew: false).revealed)
    }
    let report = try await Interruptible.run(
      beforehand: "Nothing was unlocked.", inDoubt: Self.doubt
    ) {
      let secret = if let given { given } else { try await Self.secret(client, orSay: nobody) }
      return try await client.unlock(secret, orSay: nobody)
    }
    try output.show(report, text: "The store is unlocked.\n")
  }

  private static let doubt =
    "The running daemon may unlock it all the same: `threadkeeper status` tells."

  private static func secret(_ client: StoreClient, orSay nobody: String) async throws
    -> StoreSecret
  {
    let now: StoreReport
    do {
      now = try await client.listInDaemon(orSay: nobody)
    } catch is DaemonClient.LeftOpen {
      // That was only a look.
      throw CancellationError()
    }
    guard now.guarded == true else {
      return StoreSecret(kind: .keyFile, value: client.settings.store.keyFile)
    }
    let answer = try await InterruptibleWork.result { try StoreSecret.ask("", until: $0) }
    guard let answer else { throw PassphraseInput.noTerminal }
    return StoreSecret(kind: .passphraseOrCode, value: answer.revealed)
  }
}
