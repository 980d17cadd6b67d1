// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// The key slots, for who asks over the local API.
extension StoreService {
  /// - Parameter actor: for whom, in the audit.
  private func actions(_ actor: String? = nil) -> StoreActions {
    StoreActions(keychain: keychain, settings: settings, actor: actor)
  }

  func listKeys() async throws -> StoreReport {
    try await turns.run { [self] in try actions().list() }
  }

  func addKey(_ request: KeysMethods.Addition, for actor: String) async throws -> StoreReport {
    try await turns.run { [self] in
      let report = try actions(actor).add(request)
      logger.notice("a key slot is added", metadata: ["slot": "\(Self.names(report.slots))"])
      return report
    }
  }

  func removeKey(_ request: KeysMethods.Removal, for actor: String) async throws -> StoreReport {
    try await turns.run { [self] in
      let report = try actions(actor).remove(request)
      logger.notice("a key slot is removed", metadata: ["slot": "\(Self.names(report.removed))"])
      return report
    }
  }

  /// Begins a rotation, or finds one under way.
  ///
  /// - Returns: what came with new root keys, and the rotation.
  func beginRotation(
    _ request: KeysMethods.Rotation, for actor: String
  ) async throws -> StoreReport {
    try await turns.run { [self] in
      var report = try actions(actor).renewRoots(request)
      if request.roots != nil { logger.notice("the root keys of the store are new") }
      beginRotation(for: actor, request.roots == nil ? .newKeys : .newRoots)
      report.rotation = rotation.withLock { $0.report }
      return report
    }
  }

  private static func names(_ slots: [StoreReport.Slot]?) -> String {
    (slots ?? []).map { "\($0.id) (\($0.kind))" }.joined(separator: ", ")
  }
}
