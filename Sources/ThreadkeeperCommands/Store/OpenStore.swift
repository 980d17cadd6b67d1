// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings

/// Opens the store that the settings name, with words for all that can go wrong.
enum OpenStore {
  static func location(_ settings: Settings) -> StoreLocation {
    StoreLocation(
      directory: settings.store.path, anchorDirectory: settings.store.anchorPath)
  }

  /// Beside a running daemon too; changes nothing.
  static func forReading(_ settings: Settings) throws -> Keychain {
    try open(settings, access: .readOnly, options: KeychainOptions())
  }

  /// Holds the store's lock until it is closed.
  static func forWriting(_ settings: Settings, options: KeychainOptions = KeychainOptions())
    throws -> Keychain
  {
    try open(settings, access: .readWrite, options: options)
  }

  static func exists(_ settings: Settings) -> Bool { Keychain.exists(at: location(settings)) }

  /// Makes a store with a new key file.
  static func create(_ settings: Settings, options: KeychainOptions = KeychainOptions()) throws
    -> Keychain
  {
    do {
      return try Keychain.create(
        at: location(settings), slots: [.keyFile(path: settings.store.keyFile)], options: options)
    } catch {
      throw CommandFailure(error)
    }
  }

  private static func open(
    _ settings: Settings, access: Keychain.Access, options: KeychainOptions
  ) throws -> Keychain {
    do {
      return try Keychain.open(
        at: location(settings), with: .keyFile(path: settings.store.keyFile), access: access,
        options: options)
    } catch {
      throw CommandFailure(error)
    }
  }
}

extension StoreCondition {
  /// For a person.
  var words: String {
    switch self {
    case .healthy: "healthy"
    case .readOnly(let reason): "read-only: \(reason)"
    }
  }
}

extension CommandFailure {
  init(_ error: KeychainError) {
    switch error.status {
    case .noSuchKeychain:
      self.init(
        .noInput, error.message,
        remedy: "`threadkeeper init` makes one; `--state-directory` or `store.path` names another")
    case .notAvailable where error.lockHolder != nil:
      self.init(
        .temporary, error.message,
        remedy: "stop it and try again; reading commands work beside it")
    case .authFailed, .notAvailable: self.init(.notPermitted, error.message)
    case .param: self.init(.usage, error.message)
    case .diskFull, .io: self.init(.inputOutput, error.message)
    case .decode: self.init(.badInput, error.message)
    default: self.init(.inputOutput, error.message)
    }
  }
}
