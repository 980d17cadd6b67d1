// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
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
  init(_ slots: [StoreReport.Slot]) {
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
