// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Logging
import Settings

/// Does with the key slots and keys of the store what commands ask for.
struct StoreService: Sendable {
  let settings: Settings
  let keychain: Keychain
  let logger: Logger
  /// A passphrase takes its time, and so does a rotation.
  private let turns = HandlerQueue("store")

  init(_ settings: Settings, keychain: Keychain, logger: Logger) {
    self.settings = settings
    self.keychain = keychain
    self.logger = logger
  }

  /// - Parameter actor: for whom, in the audit.
  private func actions(_ actor: String? = nil) -> StoreActions {
    StoreActions(keychain: keychain, settings: settings, actor: actor)
  }

  func listKeys() async throws -> StoreReport {
    try await turns.run { try actions().list() }
  }

  func addKey(_ request: KeysMethods.Addition, for actor: String) async throws -> StoreReport {
    try await turns.run {
      let report = try actions(actor).add(request)
      logger.notice("a key slot is added", metadata: ["slot": "\(Self.names(report.slots))"])
      return report
    }
  }

  func removeKey(_ request: KeysMethods.Removal, for actor: String) async throws -> StoreReport {
    try await turns.run {
      let report = try actions(actor).remove(request)
      logger.notice("a key slot is removed", metadata: ["slot": "\(Self.names(report.removed))"])
      return report
    }
  }

  func rotate(_ request: KeysMethods.Rotation, for actor: String) async throws -> StoreReport {
    try await turns.run {
      let report = try actions(actor).rotate(request)
      logger.notice("the keys of the store are new", metadata: ["items": "\(report.items ?? 0)"])
      return report
    }
  }

  private static func names(_ slots: [StoreReport.Slot]?) -> String {
    (slots ?? []).map { "\($0.id) (\($0.kind))" }.joined(separator: ", ")
  }
}
