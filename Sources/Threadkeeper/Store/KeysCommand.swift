import ArgumentParser
import FoundationEssentials
import KeychainCore
import Settings
import SodiumCrypto

/// `threadkeeper keys`
struct KeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "keys", "The keys that open the store, and new keys for what is in it.",
    subcommands: [KeysListCommand.self, KeysAddCommand.self, KeysRemoveCommand.self, KeysRotateCommand.self])
}

/// `threadkeeper keys list`
struct KeysListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "list", "List the ways into the store.",
    """
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
    "remove", "Take a way into the store away.",
    """
    Never the last one. Whoever has that key and an older copy of the store has the keys below it \
    too: `threadkeeper keys rotate` afterwards makes them worthless for what comes.

    Examples:
      threadkeeper keys remove 3
      threadkeeper keys remove 2 --yes     also the last passphrase
    """)

  @Argument(help: "The number that `threadkeeper keys list` shows.") var id: Int64

  @Flag(help: "Also where this says what is lost.") var yes = false

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
    "rotate", "Give the store new root keys, and put every record and item under new keys.",
    """
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
        + " May be repeated.", valueName: "file")) var passphraseFile: [String] = []

  @Flag(help: "Also when key slots are removed by it.") var yes = false

  @Flag(
    help: ArgumentHelp(
      "Delete the items for this device only whose device.key is gone, or is another's. Not while it is there"
        + " and cannot be read.")) var deleteDeviceItems = false

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
    guard TerminalPrompt.isPossible, try await client.keySlots().slots.contains(where: { $0.kind == "passphrase" }),
      let answer = try StoreSecret.ask("New root keys are sealed for the passphrase, too.\n")
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
      text += "Key slot \(slot.id) (\(slot.kind)\(slot.label.isEmpty ? "" : " " + slot.label.printable)) is removed.\n"
    }
    if deviceKeyWritten { text += Self.wordsOfDeviceKey }
    if deleted > 0 { text += "\(deleted) items of a device that is gone are deleted.\n" }
    return text
  }
}

/// `threadkeeper keys add`
struct KeysAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "add", "Add a key slot to the store.",
    """
    With the first passphrase, what is accessible "when unlocked" is \
    out of reach of the key files. A recovery code is shown once, and opens everything. At a terminal you are asked \
    for its third group before it opens anything: then somebody has written it down.

    Examples:
      threadkeeper keys add --passphrase
      threadkeeper keys add --passphrase-file - < /run/secrets/passphrase
      threadkeeper keys add --key-file /media/stick/store.key --label stick
      threadkeeper keys add --recovery-code
      threadkeeper keys add --systemd-credential store_key
    """)

  @Flag(help: "A passphrase; it is asked for twice.") var passphrase = false

  @Option(
    help: ArgumentHelp(
      "A passphrase: the first line of a file that only you can read; `-` is standard input.", valueName: "file"))
  var passphraseFile: String?

  @Option(
    help: ArgumentHelp("A key file; it is made when there is none, in a directory that is there.", valueName: "file"))
  var keyFile: String?

  @Flag(help: "A recovery code; it is made here and shown once.") var recoveryCode = false

  @Option(help: ArgumentHelp("What systemd hands over under that name; in the form of a key file.", valueName: "name"))
  var systemdCredential: String?

  @Option(help: ArgumentHelp("What `keys list` says of it.", valueName: "text")) var label: String?

  @OptionGroup var options: CommandOptions

  struct Report: Encodable {
    let reply: AddKeySlot.Reply
    /// That was made: here and nowhere else.
    let recoveryCode: String?

    private enum Field: CodingKey { case recoveryCode }

    func encode(to encoder: any Encoder) throws {
      try reply.encode(to: encoder)
      var fields = encoder.container(keyedBy: Field.self)
      try fields.encodeIfPresent(recoveryCode, forKey: .recoveryCode)
    }
  }

  func validate() throws {
    let wanted = [passphrase, passphraseFile != nil, keyFile != nil, recoveryCode, systemdCredential != nil]
    guard wanted.filter({ $0 }).count == 1 else {
      throw ValidationError(
        "Say one of --passphrase, --passphrase-file, --key-file, --recovery-code, --systemd-credential.")
    }
    guard systemdCredential == nil || label == nil else {
      throw ValidationError("The label of a credential is its name.")
    }
  }

  func run() async throws {
    let daemon = try options.daemon()
    let code = recoveryCode ? RecoveryCode() : nil
    let given = try givenSecret(code)
    let label = systemdCredential ?? label
    let confirmed = StandardStream.output.isTerminal && TerminalPrompt.isPossible && !options.output.json ? code : nil
    let added = try await Interruptible.run {
      let secret = if let given { given } else { try await Self.newPassphrase() }
      return try await daemon.perform(onKeys: AddKeySlot(secret: secret, label: label), needsAll: true) {
        if let confirmed { try await Self.show(confirmed) }
      }
    }
    var text = "Key slot \(added.slot.id) is added.\n"
    if let file = added.keyFileMade { text += "Its key file is made: \(file.printable)\n" }
    if added.deviceKeyWritten { text += RotateKeys.Reply.wordsOfDeviceKey }
    let shown = confirmed == nil ? code : nil
    if let shown { text += "\n" + Self.words(of: shown) }
    try options.output.show(Report(reply: added, recoveryCode: shown?.revealed()), text: text)
  }

  /// What need not be asked for; read before signals are caught: one ends the reading.
  private func givenSecret(_ code: RecoveryCode?) throws -> StoreSecret? {
    if let code { return StoreSecret(kind: .recoveryCode, value: code.revealed()) }
    if let systemdCredential { return StoreSecret(kind: .systemdCredential, value: systemdCredential) }
    if let keyFile {
      let path = keyFile.hasPrefix("/") ? keyFile : FileManager.default.currentDirectoryPath + "/" + keyFile
      return StoreSecret(kind: .keyFile, value: path)
    }
    return try passphraseFile.map { try SecretInput.newPassphrase(SecretInput.line($0, of: "passphrase")) }
  }

  private static func words(of code: RecoveryCode) -> String {
    """
    The recovery code, shown this once:

      \(code.revealed())

    Write it down and keep it apart from the store. It opens everything.

    """
  }

  /// Until somebody has written it down.
  private static func show(_ code: RecoveryCode) async throws {
    TerminalPrompt.show(words(of: code))
    while true {
      let group = try await TerminalPrompt.answer(to: "It opens nothing until you type its third group: ")
      if code.hasThirdGroup(group.utf8) { return }
      TerminalPrompt.show("That is not its third group.\n")
    }
  }

  private static func newPassphrase() async throws -> StoreSecret {
    guard TerminalPrompt.isPossible else { throw SecretInput.noTerminal }
    let first = try await TerminalPrompt.answer(to: "New passphrase of the store: ", isHidden: true)
    guard try await first == TerminalPrompt.answer(to: "The same again: ", isHidden: true) else {
      throw CommandFailure(.badInput, "the two passphrases are not the same")
    }
    return try SecretInput.newPassphrase(first)
  }
}
