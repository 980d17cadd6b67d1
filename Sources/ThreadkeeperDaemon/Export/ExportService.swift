// SPDX-License-Identifier: Apache-2.0

import Bridge
import ClientEnrolment
import KeychainCore
import Settings
import SodiumCrypto
import ThreadCredentialStore
import ThreadDataset

/// The work of `store export` and `store import` on a store that is open: in the daemon, or in the command
/// itself.
package struct ExportService {
  let keychain: Keychain
  let settings: Settings
  /// Of this keychain: it remembers whom it knows.
  let enrolments: ClientEnrolmentStore
  /// Who asks, where it is not this process's own user.
  var actor: String?
  /// Gets what an import names, before anything is changed.
  package var named: (ImportedName) -> Void
  /// Gets how far it is; what it throws ends the work, and nothing has changed.
  var progress: (_ done: Int, _ total: Int) throws -> Void

  package init(
    keychain: Keychain, settings: Settings, enrolments: ClientEnrolmentStore, actor: String? = nil,
    named: @escaping (ImportedName) -> Void = { _ in },
    progress: @escaping (_ done: Int, _ total: Int) throws -> Void
  ) {
    self.keychain = keychain
    self.settings = settings
    self.enrolments = enrolments
    self.actor = actor
    self.named = named
    self.progress = progress
  }

  /// - Parameter file: an empty one, which stays open.
  /// - Throws: also where `progress` throws.
  package func export(
    _ request: StoreMethods.Export, to file: Int32
  ) throws(CommandFailure) -> ExportOutcome {
    do {
      return ExportOutcome(
        try keychain.exportItems(
          to: file, name: request.file, passphrase: SecretBytes(copying: request.passphrase.utf8),
          actor: actor, progress: progress))
    } catch {
      throw CommandFailure(exchanging: error)
    }
  }

  /// - Parameter file: it stays open.
  /// - Throws: `CommandFailure`; what `progress` throws.
  package func take(_ request: StoreMethods.Import, from file: Int32) throws -> ImportOutcome {
    do {
      return try takeItems(request, from: file)
    } catch let error as KeychainError {
      throw CommandFailure(exchanging: error)
    }
  }

  private func takeItems(
    _ request: StoreMethods.Import, from file: Int32
  ) throws -> ImportOutcome {
    let isWhole = request.credentialsOnly != true
    if isWhole { try keychain.database.read { try OwnAccess(keychain, $0) }.check() }
    let configuration = BridgeConfiguration(settings)
    let settlement = ImportSettlement(configuration, keychain: keychain)
    var former: [String: OperationalDataset] = [:]
    var written: [OwnedID] = []
    var homes: Set<String> = []
    var plan = ItemImport()
    plan.actor = actor
    plan.onConflict = request.onConflict ?? .refuse
    plan.isTrial = request.dryRun == true
    plan.isMeant = {
      let kind = ImportedKind($0)
      return isWhole ? kind != .leftBehind : kind == .credential
    }
    plan.rejectionReason = { item in
      let home =
        StoredPlace(item.itemClass, item.attributes)?.home ?? EnrolledClient(imported: item)?.home
      if let home { homes.insert(home) }
      return ImportedKind.rejectionReason(for: item)
    }
    // The clients that come in seal to these keys, and no other client does.
    plan.replacesAlways = { ImportedKind($0) == .identity }
    plan.rival = { [keychain] in try ThreadCredentialStore(keychain).rival(of: $0, $1) }
    plan.comesIn = { ImportedKind.name(of: $0).map(named) }
    plan.found = { named(ImportedName(conflict: $0)) }
    plan.willWrite = { [keychain] in
      try BridgeRegistry.complete(configuration, keychain: keychain)
    }
    plan.begin = { [keychain] tx in
      if isWhole, try !OwnAccess(keychain, tx).isEmpty { throw KeychainError.storeHasChanged() }
      former = try settlement.preferredNetworks(tx)
    }
    plan.wrote = { item in
      if let id = OwnedID(item), id.hasCredentials { written.append(id) }
    }
    plan.willCommit = { [enrolments] tx in
      if isWhole { try enrolments.takeOver(tx) }
      try settlement.settle(written, former: former, tx)
    }
    plan.progress = progress
    let report = try keychain.importItems(
      from: file, name: request.file, passphrase: SecretBytes(copying: request.passphrase.utf8),
      plan)
    return ImportOutcome(
      report, unknownHomes: homes.subtracting(settings.homes.map(\.name)).sorted())
  }
}

extension CommandFailure {
  /// What went wrong with an export or an import.
  package init(exchanging error: KeychainError) {
    switch error.status {
    case .authFailed:
      self.init(
        .notPermitted, error.message,
        remedy: "it is the one that `store export` asked for, and not the store's")
    case .interactionNotAllowed:
      self.init(
        .notPermitted, error.message,
        remedy:
          "`threadkeeper unlock` unlocks a running daemon; without one, name the passphrase in"
          + " `store.passphrase`")
    case .readOnly:
      self.init(
        .badInput, error.message, remedy: "`threadkeeper store verify` says more; restore a backup")
    case .duplicateItem:
      self.init(.cannotCreate, error.message, remedy: "`--force` replaces it")
    case .writePermission, .noSuchKeychain:
      self.init(.cannotCreate, error.message)
    case .dataTooLarge:
      self.init(.badInput, error.message)
    case .notAvailable where error.lockHolder == nil, .userCanceled:
      self.init(.temporary, error.message)
    default:
      self.init(error)
    }
  }
}
