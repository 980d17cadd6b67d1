// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// What comes of a request, whoever asks and however: over MQTT, on the socket, or in the program
/// itself. It works in the caller's transaction and lives as long as that.
///
/// All that is wrong with a request is thrown as `AnswerFailure` before anything is changed. Other
/// errors are the store's own: then the transaction must not be committed.
package struct CredentialService {
  package enum Reply: Sendable {
    case data(AnswerData)
    /// A person is asked first. Who asked is answered when the consent of this id is settled.
    case waiting(id: String)
    /// A person's decision is taken.
    case decided
  }

  package let store: ThreadCredentialStore
  package let gate: any ConsentGate
  package let registry: any CredentialRegistry
  package let context: RequestContext
  let tx: WriteTransaction

  package init(
    store: ThreadCredentialStore, gate: any ConsentGate, registry: any CredentialRegistry,
    context: RequestContext, _ tx: WriteTransaction
  ) {
    self.store = store
    self.gate = gate
    self.registry = registry
    self.context = context
    self.tx = tx
  }

  var home: String { context.home }

  package func answer(_ request: ThreadRequest) throws -> Reply {
    store.keychain.act(as: context.actor, in: tx)
    guard context.canReceiveSecrets || !request.command.disclosesSecrets else {
      throw AnswerFailure(
        .notEnrolled, "the answer holds secrets, and this user has no key to seal them to")
    }
    return try namingDamage {
      switch request.command {
      case .approveConsent, .denyConsent:
        try settle(request)
        return .decided
      case .askConsent:
        try askAgain(request)
        return .decided
      case .getPreferred, .getNetwork, .nearbyNetworks: return try disclose(request)
      default: return .data(try perform(request))
      }
    }
  }

  /// What the requester of a question is answered, now that it is settled. The context is that of the
  /// question.
  package func answer(to settled: SettledConsent) throws -> AnswerData {
    if let refusal = settled.refusal { throw refusal }
    return try namingDamage { try disclosed(settled.question) }
  }

  private func perform(_ request: ThreadRequest) throws -> AnswerData {
    switch request.command {
    case .ping: return ping()
    case .storeCredentials: return try storeCredentials(request)
    case .deleteCredentials: return try deleteCredentials(request)
    case .getCredentials: return try getCredentials(request)
    case .listCredentials: return try listCredentials(onlyActive: false)
    case .listActiveCredentials: return try listCredentials(onlyActive: true)
    case .isPreferredAvailable: return try isPreferredAvailable()
    case .checkPreferred: return try checkPreferred(request)
    case .setPreferred: return try setPreferred(request)
    case .forgetPreferred: return try forgetPreferred()
    case .forgetNetwork: return try forgetNetwork(request)
    case .pendingConsents: return try pendingConsents()
    case .listRouters, .listNetworks, .listAlerts:
      return try registry.states(request.command, context: context)
    case .shareCredentials, .getNetwork, .nearbyNetworks, .getPreferred, .approveConsent,
      .denyConsent, .askConsent:
      throw AnswerFailure(.unsupported, "\(request.command.rawValue) is not in this version")
    }
  }

  private func ping() -> AnswerData {
    var data = AnswerData()
    data.time = context.now.formatted(.iso8601)
    data.version = context.version
    return data
  }

  /// What cannot be opened is said by name; it is found before anything is changed.
  private func namingDamage<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error as KeychainError where error.isItemDamaged {
      throw AnswerFailure(
        .damagedCredentials,
        "what is stored is damaged: delete it with `threadkeeper credentials delete`, "
          + "or restore a backup")
    }
  }

  // MARK: - What the commands have in common

  /// - Throws: `AnswerFailure` with `damaged_credentials` when it cannot be opened.
  func preferredNetwork() throws -> OperationalDataset? {
    do {
      return try store.preferredNetwork(of: home, tx)
    } catch let error as KeychainError where error.isItemDamaged {
      throw AnswerFailure(
        .damagedCredentials, "the stored preferred network is damaged; restore a backup")
    }
  }

  /// The same; nil also where none of its credentials are here.
  func preferredCredentials() throws -> OperationalDataset? {
    try preferredNetwork().flatMap { $0.hasCredentials ? $0 : nil }
  }

  func record(_ credential: ThreadCredential, isActive: Bool? = nil) throws -> CredentialRecord? {
    guard let network = credential.dataset.extendedPANID else { return nil }
    var record = CredentialRecord(
      agent: credential.agent, network: network, dataset: credential.dataset,
      isActive: try isActive ?? registry.isActive(credential.agent, in: home))
    record.created = credential.created.date
    record.modified = credential.modified.date
    return record
  }

  /// Whether a team is the requester's. By bytes: to Swift an accented letter equals its two parts.
  func isOwn(_ team: String) -> Bool { team.utf8.elementsEqual(context.team.utf8) }
}
