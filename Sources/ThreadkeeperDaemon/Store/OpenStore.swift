// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore
import Settings

/// Opens the store that the settings name, with words for all that can go wrong.
package enum OpenStore {
  package static func location(_ settings: Settings) -> StoreLocation {
    StoreLocation(
      directory: settings.store.path, anchorDirectory: settings.store.anchorPath)
  }

  /// Beside a running daemon too; changes nothing.
  ///
  /// - Parameter ask: for what opens it, where nothing at hand does.
  package static func forReading(
    _ settings: Settings, ask: @escaping StoreWays.Ask
  ) throws -> Keychain {
    try open(settings, access: .readOnly, options: KeychainOptions(), ask)
  }

  /// Holds the store's lock until it is closed.
  package static func forWriting(
    _ settings: Settings, options: KeychainOptions = KeychainOptions(),
    ask: @escaping StoreWays.Ask
  ) throws -> Keychain {
    try open(settings, access: .readWrite, options: options, ask)
  }

  package static func exists(_ settings: Settings) -> Bool {
    Keychain.exists(at: location(settings))
  }

  /// Makes a store with a new key file.
  package static func create(_ settings: Settings, options: KeychainOptions = KeychainOptions())
    throws
    -> Keychain
  {
    try checkMaking(settings)
    do {
      return try Keychain.create(
        at: location(settings), slots: [.keyFile(path: settings.store.keyFile)],
        options: audited(options))
    } catch {
      switch error.status {
      // Of the directories that it lies in.
      case .noSuchKeychain, .writePermission: throw CommandFailure(.cannotCreate, error.message)
      default: throw CommandFailure(error)
      }
    }
  }

  /// What nobody else is named for, the audit says of the user of this process.
  package static func audited(_ options: KeychainOptions) -> KeychainOptions {
    var options = options
    options.auditor = options.auditor ?? actor(user: geteuid())
    return options
  }

  /// How the audit names who gave a command, whether the daemon did the work or the command itself.
  package static func actor(user: UInt32) -> String { "command of user \(user)" }

  private static func open(
    _ settings: Settings, access: Keychain.Access, options: KeychainOptions,
    _ ask: @escaping StoreWays.Ask
  ) throws -> Keychain {
    try checkOwner(settings)
    var lacksAnswer = false
    let ask: StoreWays.Ask = { words in
      let answer = try ask(words)
      lacksAnswer = answer == nil
      return answer
    }
    do {
      var refusal = KeychainError(.authFailed, "there is nothing to open the store with")
      let first: StoreWays.Further = { _, _ in try StoreWays.first(settings) }
      for (position, group) in ([first] + StoreWays.further(settings, ask: ask)).enumerated() {
        var ways: [KeySlotSecret] = []
        if position == 0 {
          ways = try group(refusal, [])
        } else if let slots = try? Keychain.slots(at: location(settings)) {
          ways = try group(refusal, slots)
        }
        for (number, way) in ways.enumerated() {
          do {
            return try Keychain.open(
              at: location(settings), with: way, access: access, options: audited(options))
          } catch {
            guard error.status == .authFailed else { throw error }
            if number == 0 { refusal = error }
          }
        }
      }
      throw refusal
    } catch let error as KeychainError {
      throw StoreWays.failure(error, lacksAnswer: lacksAnswer)
    }
  }
}

extension StoreCondition {
  /// For a person.
  package var words: String {
    switch self {
    case .healthy: "healthy"
    case .readOnly(let reason): "read-only: \(reason)"
    }
  }
}

extension CommandFailure {
  package init(_ error: KeychainError) {
    switch error.status {
    case .noSuchKeychain:
      self.init(
        .noInput, error.message,
        remedy: "`threadkeeper setup` makes one; `--state-directory` or `store.path` names another")
    case .notAvailable where error.lockHolder != nil:
      self.init(
        .temporary, error.message,
        remedy: "stop it and try again; reading commands work beside it")
    case _ where error.isTemporary: self.init(.temporary, error.message)
    case .authFailed, .notAvailable: self.init(.notPermitted, error.message)
    case .interactionNotAllowed:
      self.init(
        .notPermitted, error.message,
        remedy: "`store.passphrase` names it; a command asks for it where no daemon runs")
    case .itemNotFound: self.init(.noInput, error.message)
    case .param: self.init(.usage, error.message)
    case .diskFull, .io: self.init(.inputOutput, error.message)
    case .decode: self.init(.badInput, error.message)
    default: self.init(.inputOutput, error.message)
    }
  }
}
