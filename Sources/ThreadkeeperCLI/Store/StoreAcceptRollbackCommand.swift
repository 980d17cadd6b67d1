// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import ThreadkeeperDaemon

/// `threadkeeper store accept-rollback`
struct StoreAcceptRollbackCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-rollback",
    abstract: "Go on with an older copy of the store, after you restored a backup.",
    discussion: """
      A store that is older than its anchor is read-only until you say that you put it there. Stop \
      the daemon first.

      Example:
        threadkeeper store accept-rollback
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    let condition: String
  }

  func run() throws {
    let settings = try options.loadOfStore()
    let keychain = try OpenStore.forWriting(settings)
    defer { keychain.close() }
    do {
      try keychain.acceptRollback()
    } catch {
      throw CommandFailure(error)
    }
    try output.show(
      Report(condition: keychain.condition.words),
      text: "The store is accepted as it is; it is \(keychain.condition.words).\n")
  }
}
