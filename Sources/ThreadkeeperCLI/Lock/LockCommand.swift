// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadkeeperDaemon

/// `threadkeeper lock`
struct LockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock",
    abstract: "Lock what is accessible \"when unlocked\" in the running daemon.",
    discussion: """
      Its keys leave the daemon's memory, and only `threadkeeper unlock` brings them back. The daemon \
      goes on with everything else. Nothing that the daemon does makes this wait; only \
      the note in the audit may come later. Ends with 69 when no daemon runs: then nothing is in memory.

      Example:
        threadkeeper lock
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let client = StoreClient(settings: try options.loadOfStore())
    let report = try await client.lock(orSay: "no daemon runs: there is nothing to lock")
    let note =
      report.guarded == true
      ? ""
      : "The store has no passphrase: whoever can read its key file reaches everything all the same.\n"
    try output.show(report, text: "The store is locked.\n\(note)")
  }
}
