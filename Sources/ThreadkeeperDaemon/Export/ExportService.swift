// SPDX-License-Identifier: Apache-2.0

import Bridge
import BrokerLoginStore
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
  package var named: (ImportList.Line) -> Void
  /// Told how far it is; what it throws ends the work, and nothing has changed.
  var progress: (_ done: Int, _ total: Int) throws -> Void

  package init(
    keychain: Keychain, settings: Settings, enrolments: ClientEnrolmentStore, actor: String? = nil,
    named: @escaping (ImportList.Line) -> Void = { _ in },
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
    let configuration = BridgeConfiguration(settings)
    var items = ImportedItems()
    var (owners, logins) = (ImportedOwners(), ImportedLogins())
    // Of clients that come in.
    var homes: Set<String> = []
    var own: OwnAccess?
    let settlement = ImportSettlement(configuration, keychain: keychain)
    var former: [String: OperationalDataset] = [:]
    var access = ImportOutcome.Access()
    var (takesOver, showsKeys) = (false, false)
    var plan = ItemImport()
    plan.actor = actor
    plan.onConflict = request.onConflict ?? .refuse
    plan.isTrial = request.dryRun == true
    plan.objection = { item in
      items.see(item)
      if let home = ImportedAccess.home(of: item) { homes.insert(home) }
      return ImportedItems.objection(to: item) ?? ImportedAccess.objection(to: item)
        ?? owners.objection(to: item) ?? logins.objection(to: item)
    }
    plan.staysOut = { [enrolments] store, tx in
      let now = try OwnAccess(enrolments, exported: store, tx)
      own = now
      former = try settlement.preferredNetworks(tx)
      return { ImportedAccess($0).map { $0.comesNever || now.isDecided } ?? false }
    }
    plan.stayedOut = { item in
      guard var what = ImportedAccess(item) else { return }
      if what == .revocation, own?.hasEnrolled(item) == true { what = .revocationOfEnrolled }
      access.stayedOut[what, default: 0] += 1
      guard let name = ImportedAccess.name(of: item) else { return }
      named(.stayedOut(.init(what: what, name: name)))
    }
    plan.comesIn = { item in
      guard let what = ImportedAccess(item) else { return }
      access.takenOver[what, default: 0] += 1
      guard let name = ImportedAccess.name(of: item) else { return }
      named(.takenOver(.init(what: what, name: name)))
    }
    // A store that has decided nothing has shown its keys at most.
    plan.givesWay = { item, differs in
      guard DaemonIdentityStore.isOnlyShown(item) else { return false }
      // The same keys may have been used since they were exported.
      if differs.contains("secret") { access.replacesKeys = true }
      return true
    }
    plan.rivals = { [keychain] item, tx in
      try ThreadCredentialStore(keychain).rivals(of: item, tx)
        + BrokerLoginStore.rivals(of: item, in: keychain, tx)
    }
    plan.found = { named(.conflict($0)) }
    plan.wrote = { item in
      items.wrote(item)
      guard ImportedAccess(item.itemClass, item.attributes) != nil else { return }
      // Keys that nobody has used decide nothing here either.
      if DaemonIdentityStore.isOnlyShown(item) { showsKeys = true } else { takesOver = true }
    }
    plan.removed = { items.removed($0) }
    plan.willWrite = { [keychain] in
      try BridgeRegistry.complete(configuration, keychain: keychain)
    }
    plan.willCommit = { [enrolments] tx in
      if takesOver {
        try enrolments.takeOver(tx)
      } else if showsKeys {
        _ = try enrolments.makeIdentity(tx)
      }
      try settlement.settle(items, former: former, tx)
    }
    plan.progress = progress
    let report = try keychain.importItems(
      from: file, name: request.file, passphrase: SecretBytes(copying: request.passphrase.utf8),
      plan)
    let unknown = items.homes.union(homes).subtracting(settings.homes.map(\.name))
    return ImportOutcome(report, access, unknownHomes: unknown.sorted())
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
