import KeychainCore
import LocalAPI
import Settings
import SodiumCrypto

/// What the keys of the store are needed for: done by the daemon that holds it, or without one in the store itself.
extension DaemonClient {
  /// A passphrase takes the daemon a second, on a slow machine ten.
  private static let keyLimit = Duration.seconds(120)

  func keySlots() async throws -> ListKeySlots.Reply {
    try await perform(ListKeySlots(), within: Self.keyLimit) {
      try OpenStore.reading(settings) { try ListKeySlots().perform(OpenedStore(keychain: $0, settings: settings)) }
    }
  }

  /// For commands that change something, and catch signals meanwhile: one that comes at a question leaves the store as
  /// it is.
  ///
  /// - Parameters:
  ///   - needsAll: whether what is locked is asked for, too.
  ///   - prepare: what comes before, once the store is open or a daemon has it.
  func perform<Performed: KeyOperation>(
    onKeys operation: Performed, needsAll: Bool = false, after prepare: () async throws -> Void = {}
  ) async throws -> Performed.Reply {
    let keychain = try await openHere(needsAll: needsAll)
    defer { keychain?.close() }
    try await prepare()
    guard let keychain else {
      // It is not to be done twice.
      return try await Self.orStore(isRepeatable: false) {
        try await performIfThere(operation, within: Self.keyLimit)
      } store: {
        throw CommandFailure(.temporary, "the daemon has ended before it was asked: try again")
      }
    }
    return try operation.perform(OpenedStore(keychain: keychain, settings: settings))
  }

  /// The store, where no daemon has it; nil where one does. What opens it is asked for on a thread of the system's:
  /// for commands that catch signals meanwhile.
  ///
  /// - Parameter needsAll: whether what is locked is asked for, too.
  private func openHere(needsAll: Bool) async throws -> Keychain? {
    let keychain: Keychain? = try await Self.orStore(isRepeatable: true) {
      try await isDaemonThere() ? Optional(Keychain?.none) : nil
    } store: {
      try await InterruptibleWork.result { try open(until: $0, needsAll: needsAll) }
    }
    guard !Task.isCancelled else {
      keychain?.close()
      throw CancellationError()
    }
    return keychain
  }

  /// It changes nothing, so it leaves nothing in doubt.
  private func isDaemonThere() async throws -> Bool {
    do { return try await isThere(within: Self.keyLimit) } catch is Ended { return false } catch is LeftOpen {
      throw CancellationError()
    }
  }

  private func open(until stop: StopFlag, needsAll: Bool) throws -> Keychain {
    let keychain = try OpenStore.forWriting(settings) { try StoreSecret.ask($0, until: stop) }
    do {
      if needsAll { try unlockIfAsked(keychain) { try StoreSecret.ask($0, until: stop) } }
      return keychain
    } catch {
      keychain.close()
      throw error
    }
  }

  /// A further passphrase or a recovery code is to reach everything: that takes one that does.
  private func unlockIfAsked(_ keychain: Keychain, ask: StoreWays.Ask) throws {
    guard !keychain.isUnlocked, let answer = try ask("The store is open, but parts of it are locked.\n") else { return }
    for way in try StoreSecret.ways(answer) { do { return try keychain.unlock(with: way) } catch { continue } }
    throw CommandFailure(.notPermitted, "this unlocks nothing: it is mistyped")
  }
}

/// A secret from a file or from standard input; never from the command line.
enum SecretInput {
  static let noTerminal = CommandFailure(
    .usage, "there is no terminal to ask for the passphrase on", remedy: "give it with --passphrase-file")

  /// The first line of a file that not every user can read, or with `-` of standard input.
  ///
  /// - Parameter name: what it is, for errors.
  static func line(_ path: String, of name: String, limit: Int = 4_096) throws(CommandFailure) -> String {
    let bytes = try path == "-" ? StandardInput.read(limit: limit) : InputFile.read(path, limit: limit, isSecret: true)
    guard let bytes else { throw CommandFailure(.badInput, "the \(name) is too long") }
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    guard let text = String(validating: line, as: UTF8.self), !text.isEmpty else {
      throw CommandFailure(.badInput, "the first line of \(path) is no \(name): it is empty, or not UTF-8")
    }
    return text
  }

  /// A new passphrase.
  static func newPassphrase(_ text: String) throws(CommandFailure) -> StoreSecret {
    let secret = StoreSecret(kind: .passphrase, value: text)
    try secret.checkAsNew()
    return secret
  }
}

extension Password {
  /// The first line of a file that others cannot read, or of standard input for `-`.
  static func fromFile(_ path: String) throws(CommandFailure) -> String {
    let text = try SecretInput.line(path, of: "password", limit: limit)
    _ = try checked(Array(text.utf8)[...])
    return text
  }

  /// All of standard input but one line end.
  static func fromStandardInput() throws(CommandFailure) -> SecretBytes {
    guard let bytes = try StandardInput.read(limit: limit + 2) else { throw tooLong }
    return try checked(withoutLineEnd(bytes))
  }

  /// Asks again as long as Enter alone is the answer.
  ///
  /// - Throws: `CancellationError` at the end of the input.
  static func asked(_ question: String) async throws -> SecretBytes {
    guard TerminalPrompt.isPossible else { throw TerminalPrompt.noTerminal }
    while true {
      let text = try await TerminalPrompt.answer(to: question, isHidden: true)
      if !text.isEmpty { return try checked(Array(text.utf8)[...]) }
    }
  }

  static func withoutLineEnd(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    guard bytes.last == UInt8(ascii: "\n") else { return bytes[...] }
    let line = bytes.dropLast()
    return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }
}

extension OpenStore {
  /// Opens the store for as long as it is read, which may be beside others that use it.
  ///
  /// - Parameter ask: where nothing at hand opens it; by default at the terminal.
  static func reading<R>(
    _ settings: Settings, ask: @escaping StoreWays.Ask = { try StoreSecret.ask($0) }, _ body: (Keychain) throws -> R
  ) throws -> R {
    let keychain = try forReading(settings, ask: ask)
    defer { keychain.close() }
    return try body(keychain)
  }
}

extension StoreSecret {
  /// Asks a person, if there is one. Nil without a terminal or an answer.
  ///
  /// - Parameter stop: where signals are caught: ends the question.
  /// - Throws: `CancellationError` when the question is broken off: then nothing is to be done.
  static func ask(_ why: String, until stop: StopFlag? = nil) throws -> SecretText? {
    guard TerminalPrompt.isPossible else { return nil }
    TerminalPrompt.show(why)
    do {
      let answer = try TerminalPrompt.askNow("Passphrase or recovery code of the store: ", until: stop)
      return answer.flatMap { $0.isEmpty ? nil : SecretText($0) }
    } catch let cancelled as CancellationError { throw cancelled } catch { return nil }
  }
}
