// SPDX-License-Identifier: Apache-2.0

import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// `preferred/get`, `network/get` and `networks/nearby`: what other teams have stored, and what the
/// home prefers. Somebody must agree.
extension CredentialService {
  func disclose(_ request: ThreadRequest) throws -> Reply {
    let records = try told(by: request)
    // Nothing is there that a person could be asked about.
    guard !records.isEmpty else { return .data(AnswerData(credentials: [])) }
    let question = ConsentQuestion(
      context: context, request: request,
      networks: Dictionary(records.map { ($0.network, $0.networkName) }) { first, _ in first }
        .map { .init(network: $0.key, name: $0.value) }
        .sorted { $0.network.description < $1.network.description })
    switch try gate.judge(question, tx) {
    case .granted: return .data(AnswerData(credentials: records))
    case .pending(let id): return .waiting(id: id)
    case .refused(let failure): throw failure
    }
  }

  /// What was agreed to, and no network that has come since: the preferred one may be another by now.
  func disclosed(_ question: ConsentQuestion) throws -> AnswerData {
    let agreed = Set(question.networks.map(\.network))
    let records = try told(by: question.request).filter { agreed.contains($0.network) }
    guard !records.isEmpty else {
      throw AnswerFailure(
        .conflict, "what was agreed to has changed since: ask again, and a person is asked anew")
    }
    return AnswerData(credentials: records)
  }

  func settle(_ request: ThreadRequest) throws -> [SettledConsent] {
    try gate.settle(
      ConsentDecision(
        id: request.id ?? "", approves: request.command == .approveConsent,
        scope: request.scope ?? .once, by: context.requester,
        isAdministrator: context.isAdministrator, home: home), tx)
  }

  private func told(by request: ThreadRequest) throws -> [CredentialRecord] {
    switch request.command {
    case .getPreferred: return [try preferredRecord()]
    case .getNetwork: return [try networkRecord(request.network)]
    default: return try nearbyRecords()
    }
  }

  private func preferredRecord() throws -> CredentialRecord {
    guard let dataset = try preferredNetwork(), let network = dataset.extendedPANID else {
      throw AnswerFailure(.notFound, "there is no preferred network")
    }
    // A router that runs on just this dataset, one that is active before one that is not, one of the
    // own team before another's.
    var best: CredentialRecord?
    for credential in try store.all(in: home, on: network, tx).readable
    where credential.dataset.essentialDifferences(from: dataset).isEmpty {
      guard let record = try record(credential) else { continue }
      guard let other = best else {
        best = record
        continue
      }
      if record.isActive != other.isActive {
        if record.isActive { best = record }
      } else if isOwn(credential.team) {
        best = record
      }
    }
    var record = CredentialRecord(
      agent: best?.agent, network: network, dataset: dataset, isActive: best?.isActive ?? false)
    let dates = try store.preferredDates(of: home, tx)
    record.created = dates?.created.date
    record.modified = dates?.modified.date
    return record
  }

  private func networkRecord(_ network: ExtendedPANID?) throws -> CredentialRecord {
    guard let network else {
      throw AnswerFailure(.invalidPayload, field: "ext_pan_id", "expected 16 hex digits")
    }
    // Anybody can name an Extended PAN ID that is on the air: of the preferred network only its own
    // dataset is told.
    if try preferredNetwork()?.extendedPANID == network { return try preferredRecord() }
    var best: CredentialRecord?
    for credential in try store.all(in: home, on: network, tx).readable {
      guard let record = try record(credential) else { continue }
      if let other = best, (other.activeTimestamp ?? 0) >= (record.activeTimestamp ?? 0) {
        continue
      }
      best = record
    }
    guard let best else {
      throw AnswerFailure(
        .notFound, field: "ext_pan_id", "no credentials of this network are stored")
    }
    return best
  }

  private func nearbyRecords() throws -> [CredentialRecord] {
    let limit = context.mostEntries
    let found = try store.all(in: home, of: nil, limit: limit.map { $0 + 1 }, tx)
    if let limit, found.readable.count > limit {
      throw AnswerFailure(.tooLarge, "there are more than \(limit), which no answer can hold")
    }
    return try found.readable.compactMap { try record($0) }.filter(\.isActive)
  }
}
