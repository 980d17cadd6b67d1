// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeychainCore
import ThreadkeeperDaemon

/// `threadkeeper store compact`
struct StoreCompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Rewrite the store without the space that deleted items took.",
    discussion: """
      Stop the daemon first. The store needs its size once more on the disk while this works.

      Example:
        threadkeeper store compact
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  struct Report: Encodable {
    /// Bytes.
    let before: UInt64
    let after: UInt64
  }

  func run() throws {
    let settings = try options.loadOfStore()
    let keychain = try OpenStore.forWriting(settings)
    defer { keychain.close() }
    if StandardStream.error.isTerminal {
      try StandardStream.error.write("Rewriting the store …\n")
    }
    do {
      let sizes = try keychain.compact()
      try output.show(
        Report(before: sizes.before, after: sizes.after),
        text: "The store had \(sizes.before / 1024) KiB, and has \(sizes.after / 1024) KiB.\n")
    } catch let error as KeychainError {
      throw CommandFailure(error)
    }
  }
}
