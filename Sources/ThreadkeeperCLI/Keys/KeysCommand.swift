// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SodiumCrypto
import ThreadkeeperDaemon

/// `threadkeeper keys`
struct KeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "The keys that open the store, and new keys for what is in it.",
    subcommands: [
      KeysListCommand.self, KeysAddCommand.self, KeysRemoveCommand.self, KeysRotateCommand.self,
    ])
}

extension Table {
  init(_ slots: [KeySlotReport]) {
    self.init(columns: "ID", "KIND", "LABEL", "ADDED", "OPENS")
    for slot in slots {
      let opens =
        switch slot.opens {
        case .yes: "yes"
        case .no: "no"
        case .notTried: "not tried"
        }
      add("\(slot.id)", slot.kind, slot.label, slot.created, opens)
    }
  }
}

/// `threadkeeper keys list`
struct KeysListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the ways into the store.",
    discussion: """
      OPENS says whether a slot opens with what is here: the key file of the settings, and what \
      systemd hands over. A passphrase and a recovery code are not tried.

      Examples:
        threadkeeper keys list
        threadkeeper keys list --json | jq '.slots[].kind'
      """)

  @OptionGroup var options: SettingsOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let report = try await StoreClient(settings: options.loadOfStore()).list()
    try output.show(report, text: Table(report.slots).text())
  }
}

/// `threadkeeper keys remove`
struct KeysRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Take a way into the store away.",
    discussion: """
      Never the last one. Whoever has that key and an older copy of the store has the keys below it \
      too: `threadkeeper keys rotate` afterwards makes them worthless for what comes.

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

  func run() async throws {
    try? ProcessHardening.forbidCoreDumps()
    let client = StoreClient(settings: try options.loadOfStore())
    let removal = RemoveKeySlot(slot: id, isConfirmed: yes)
    let report = try await Interruptible.run { try await client.perform(removal) }
    try output.show(report, text: "Key slot \(id) is removed.\n")
  }
}
