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

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show {
      try await $0.keySlots()
    } text: {
      Table(
        $0.slots,
        [
          "ID": { $0.id }, "KIND": { $0.kind }, "LABEL": { $0.label }, "ADDED": { $0.created },
          "OPENS": { $0.opens == .notTried ? "not tried" : $0.opens.rawValue },
        ]
      ).text()
    }
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

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show { daemon in
      let removal = RemoveKeySlot(slot: id, isConfirmed: yes)
      return try await Interruptible.run { try await daemon.perform(onKeys: removal) }
    } text: { _ in
      "Key slot \(id) is removed.\n"
    }
  }
}

/// `threadkeeper keys rotate`
struct KeysRotateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Give the store new root keys, and put every record and item under new keys.",
    discussion: """
      This locks out a key that leaked: it opens nothing that is written from then on. Who has an older copy of the \
      store keeps the secrets in it, and the key opens the records that the audit has by now. It is one transaction, \
      about half a second for 10,000 items. Reading goes on meanwhile, and writing waits. If it is cut off, nothing \
      has changed.

      The key file of the settings stays, and so do the credentials that systemd hands over, and what is given with \
      --passphrase-file, or else `store.passphrase`, or what you type; all other slots are removed. If a passphrase \
      or code opens nothing, or the key file is there and cannot be read, nothing is done.

      Examples:
        threadkeeper keys rotate
        threadkeeper keys rotate --passphrase-file /run/secrets/passphrase
      """)

  @Option(
    help: ArgumentHelp(
      "A passphrase or recovery code that stays, the first line of a file; `-` is standard input."
        + " May be repeated.", valueName: "file"))
  var passphraseFile: [String] = []

  @Flag(help: "Also when key slots are removed by it.")
  var yes = false

  @Flag(
    help: ArgumentHelp(
      "Delete the items for this device only whose device.key is gone, or is another's. Not while it is there"
        + " and cannot be read."))
  var deleteDeviceItems = false

  @OptionGroup var options: CommandOptions

  func run() async throws {
    try await options.show { daemon in
      let rotation = RotateKeys(
        secrets: try await secrets(daemon), isConfirmed: yes, deletesDeviceItems: deleteDeviceItems)
      return try await Interruptible.run { try await daemon.perform(onKeys: rotation) }
    } text: {
      $0.text
    }
  }

  /// What is to open the store from then on.
  private func secrets(_ client: DaemonClient) async throws -> [StoreSecret] {
    let settings = client.settings
    var secrets = [StoreSecret(kind: .keyFile, value: settings.store.keyFile)]
    for file in passphraseFile {
      let text = try SecretInput.line(file, of: "passphrase")
      secrets.append(StoreSecret(kind: .passphraseOrCode, value: text))
    }
    guard secrets.count == 1 else { return secrets }
    if let passphrase = settings.store.passphrase {
      return secrets + [StoreSecret(kind: .passphraseOrCode, value: passphrase.revealed)]
    }
    guard TerminalPrompt.isPossible,
      try await client.keySlots().slots.contains(where: { $0.kind == "passphrase" }),
      let answer = try StoreSecret.askNow("New root keys are sealed for the passphrase, too.\n")
    else { return secrets }
    return secrets + [StoreSecret(kind: .passphraseOrCode, value: answer.revealed)]
  }
}

extension RotateKeys.Reply {
  static let wordsOfDeviceKey =
    "The file device.key was missing. The daemon had the key, and has written the file again.\n"

  /// What came of a rotation; lines.
  var text: String {
    let contents = String.contents(records: records, items: items)
    var text = "The root keys of the store are new, and \(contents) are under new keys.\n"
    for slot in removed {
      text +=
        "Key slot \(slot.id) (\(slot.kind)\(slot.label.isEmpty ? "" : " " + slot.label.printable))"
        + " is removed.\n"
    }
    if deviceKeyWritten { text += Self.wordsOfDeviceKey }
    if deleted > 0 {
      text += "\(deleted) items of a device that is gone are deleted.\n"
    }
    return text
  }
}
