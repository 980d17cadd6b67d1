// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SodiumCrypto
import ThreadkeeperDaemon

/// `threadkeeper keys remove`
struct KeysRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Take a way into the store away.",
    discussion: """
      Never the last one. Whoever has that key and an older copy of the store has the keys below it \
      too: `threadkeeper keys rotate --master` afterwards makes them worthless for what comes.

      Examples:
        threadkeeper keys remove 3
        threadkeeper keys remove 2 --yes     also the last passphrase
      """)

  @Argument(help: "The number that `threadkeeper keys list` shows.")
  var id: Int64

  @Flag(help: "Also where this says what is lost.")
  var yes = false

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  private static let doubt =
    "The running daemon may have removed it all the same: `threadkeeper keys list` tells."

  func run() async throws {
    try? ProcessHardening.forbidCoreDumps()
    let client = StoreClient(settings: try options.loadOfStore())
    let request = KeysMethods.Removal(slot: id, isConfirmed: yes)
    let report = try await Interruptible.run(
      beforehand: "Nothing was removed.", inDoubt: Self.doubt
    ) {
      try await client.remove(request)
    }
    try output.show(report, text: "Key slot \(id) is removed.\n")
  }
}
