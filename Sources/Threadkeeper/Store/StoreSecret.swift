import KeychainCore
import LocalAPI
import Settings
import SodiumCrypto
import ThreadRequests

/// What opens a key slot, as it goes over the socket.
struct StoreSecret: Codable {
  enum Kind: String, Codable {
    case keyFile = "key_file"
    case passphrase
    case systemdCredential = "systemd_credential"
    case recoveryCode = "recovery_code"
    /// Typed by a person: the one or the other.
    case passphraseOrCode = "passphrase_or_code"
  }

  var kind: Kind
  /// The passphrase or the code, the path, the name.
  var value: String

  /// What it may be, the likeliest first.
  func ways() throws(KeychainError) -> [KeySlotSecret] {
    switch kind {
    case .keyFile: [.keyFile(path: value)]
    case .passphrase: [.passphrase(SecretBytes(copying: Array(value.utf8)))]
    case .systemdCredential: [.systemdCredential(name: value)]
    case .recoveryCode: [.recoveryCode(try Self.code(value))]
    case .passphraseOrCode: try Self.ways(SecretText(value))
    }
  }

  /// Nobody has a passphrase with the check digits of a code, unless it is one.
  static func ways(_ text: SecretText) throws(KeychainError) -> [KeySlotSecret] {
    let passphrase = KeySlotSecret.passphrase(SecretBytes(copying: Array(text.revealed.utf8)))
    do { return [.recoveryCode(try code(text.revealed)), passphrase] } catch {
      // Where it looks like one, what is wrong with it is the better answer.
      guard text.revealed.split(separator: "-").map(\.count) == Array(repeating: 5, count: 7) else {
        return [passphrase]
      }
      throw error
    }
  }

  private static func code(_ text: String) throws(KeychainError) -> RecoveryCode { try RecoveryCode(typed: text.utf8) }
}

extension StoreSecret: CustomStringConvertible, CustomReflectable {
  var description: String { kind.rawValue }
  var customMirror: Mirror { Mirror(self, children: ["kind": kind.rawValue]) }
}

extension StoreSecret {
  /// Characters of a new passphrase, at least.
  private static let leastCharacters = 8

  /// Whether a key slot may be made of it; what opens a slot that is there may be anything.
  ///
  /// - Throws: `CommandFailure` with status 65: the passphrase is too short, or the path of the key file is relative,
  ///   and the daemon has another working directory than who asks.
  func checkAsNew() throws(CommandFailure) {
    switch kind {
    case .passphrase where value.count < Self.leastCharacters:
      throw CommandFailure(
        .badInput, "a passphrase has at least \(Self.leastCharacters) characters", code: .invalidPayload)
    case .keyFile where !value.hasPrefix("/"):
      throw CommandFailure(.badInput, "the path of a key file begins with /", code: .invalidPayload)
    case .passphraseOrCode: throw CommandFailure(.usage, "a new key slot is of a passphrase or of a recovery code")
    case .keyFile, .passphrase, .systemdCredential, .recoveryCode: break
    }
  }
}

/// What a store is opened with, or a backup: the same, in the same order.
enum StoreWays {
  /// What is tried next, from why nothing has opened it yet, and its slots.
  typealias Further = (KeychainError, [KeySlot]) throws -> [KeySlotSecret]
  /// Asks a person, after the words that it gets; nil where there is no answer.
  typealias Ask = (String) throws -> SecretText?

  /// Who names a passphrase means it: then nothing else is tried, and a wrong one is said.
  static func first(_ settings: Settings) throws(KeychainError) -> [KeySlotSecret] {
    if let passphrase = settings.store.passphrase { return try StoreSecret.ways(passphrase) }
    return [.keyFile(path: settings.store.keyFile)]
  }

  /// - Parameter lacksAnswer: whether a passphrase or a recovery code would do, and nobody gave one.
  static func failure(_ error: KeychainError, lacksAnswer: Bool) -> CommandFailure {
    guard lacksAnswer, error.status == .authFailed else { return CommandFailure(error) }
    return CommandFailure(
      .notPermitted, error.message,
      remedy: "or name a file with its passphrase or recovery code: THREADKEEPER_STORE_PASSPHRASE_FILE")
  }

  /// What systemd hands over, then what a person at the terminal says.
  static func further(_ settings: Settings, ask: @escaping Ask) -> [Further] {
    guard settings.store.passphrase == nil else { return [] }
    return [
      { _, slots in
        slots.filter { $0.kind == .systemdCredential && SystemdCredential.path($0.label) != nil }.map {
          .systemdCredential(name: $0.label)
        }
      },
      { refusal, slots in
        guard slots.contains(where: { $0.kind == .passphrase || $0.kind == .recoveryCode }),
          let answer = try ask("\(refusal.message).\n")
        else { return [] }
        return try StoreSecret.ways(answer)
      },
    ]
  }
}
