// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import KeychainCore
import SodiumCrypto
import ThreadkeeperDaemon

/// `threadkeeper keys add`
struct KeysAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a way into the store.",
    discussion: """
      With the first passphrase, what is accessible "when unlocked" is \
      out of reach of the key files. A recovery code is shown once, and opens everything.

      Examples:
        threadkeeper keys add --passphrase
        threadkeeper keys add --passphrase-file - < /run/secrets/passphrase
        threadkeeper keys add --key-file /media/stick/store.key --label stick
        threadkeeper keys add --recovery-code
        threadkeeper keys add --systemd-credential store_key
      """)

  @Flag(help: "A passphrase; it is asked for twice.")
  var passphrase = false

  @Option(
    help: ArgumentHelp(
      "A passphrase: the first line of a file that only you can read; `-` is standard input.",
      valueName: "file"))
  var passphraseFile: String?

  @Option(
    help: ArgumentHelp(
      "A key file; it is made when there is none, in a directory that is there.",
      valueName: "file"))
  var keyFile: String?

  @Flag(help: "A recovery code; it is made here and shown once.")
  var recoveryCode = false

  @Option(
    help: ArgumentHelp(
      "What systemd hands over under that name; in the form of a key file.", valueName: "name"))
  var systemdCredential: String?

  @Option(help: ArgumentHelp("What `keys list` says of it.", valueName: "text"))
  var label: String?

  @OptionGroup var options: CommandOptions

  struct Report: Encodable {
    let slot: KeySlotReport
    /// Here and nowhere else.
    let recoveryCode: String?
    /// The path of a key file that was not there.
    let keyFileMade: String?
    /// Its file was lost, and is written again.
    let deviceKeyWritten: Bool
  }

  func validate() throws {
    let wanted = [
      passphrase, passphraseFile != nil, keyFile != nil, recoveryCode, systemdCredential != nil,
    ]
    guard wanted.filter({ $0 }).count == 1 else {
      throw ValidationError(
        "Say one of --passphrase, --passphrase-file, --key-file, --recovery-code,"
          + " --systemd-credential.")
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
    let added = try await Interruptible.run {
      let secret = if let given { given } else { try await Self.newPassphrase() }
      return try await daemon.perform(
        onKeys: AddKeySlot(secret: secret, label: label), needsAll: true)
    }
    var text = "Key slot \(added.slot.id) is added.\n"
    if let file = added.keyFileMade {
      text += "Its key file is made: \(file.printable)\n"
    }
    if added.deviceKeyWritten { text += RotateKeys.Reply.wordsOfDeviceKey }
    if let code {
      text += """

        The recovery code, shown this once:

          \(code.revealed())

        Write it down and keep it apart from the store. It opens everything.

        """
    }
    try options.output.show(
      Report(
        slot: added.slot, recoveryCode: code?.revealed(), keyFileMade: added.keyFileMade,
        deviceKeyWritten: added.deviceKeyWritten), text: text)
  }

  /// What need not be asked for; read before signals are caught: one ends the reading.
  private func givenSecret(_ code: RecoveryCode?) throws -> StoreSecret? {
    if let code { return StoreSecret(kind: .recoveryCode, value: code.revealed()) }
    if let systemdCredential {
      return StoreSecret(kind: .systemdCredential, value: systemdCredential)
    }
    if let keyFile {
      let path =
        keyFile.hasPrefix("/")
        ? keyFile : FileManager.default.currentDirectoryPath + "/" + keyFile
      return StoreSecret(kind: .keyFile, value: path)
    }
    return try passphraseFile.map {
      try SecretInput.newPassphrase(SecretInput.line($0, of: "passphrase"))
    }
  }

  private static func newPassphrase() async throws -> StoreSecret {
    guard TerminalPrompt.isPossible else { throw SecretInput.noTerminal }
    let first = try await TerminalPrompt.answer(
      to: "New passphrase of the store: ", isHidden: true)
    guard try await first == TerminalPrompt.answer(to: "The same again: ", isHidden: true) else {
      throw CommandFailure(.badInput, "the two passphrases are not the same")
    }
    return try SecretInput.newPassphrase(first)
  }
}
