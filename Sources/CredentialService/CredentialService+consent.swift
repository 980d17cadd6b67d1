// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// `preferred/get`, `network/get` and `networks/nearby`: what other teams have stored, and what the
/// home prefers. Somebody must agree.
extension CredentialService {
  func disclose(_ request: ThreadRequest) throws -> Reply {
    let found = try told(by: request) { _ in true }
    // Nothing is there that a person could be asked about.
    guard !found.isEmpty else { return .data(AnswerData(credentials: [])) }
    let data = AnswerData(credentials: found.map(\.record))
    // Nobody should be asked about what could not be told then.
    if let most = context.mostSecretBytes, data.json.count > most {
      throw AnswerFailure.tooLargeToSeal
    }
    var named: Set<ConsentNetwork> = []
    let networks = found.map(\.network).filter { named.insert($0).inserted }
    let question = ConsentQuestion(
      context: context, request: request,
      networks: networks.filter { $0.team == nil } + networks.filter { $0.team != nil })
    switch try gate.judge(question, tx) {
    case .granted: return .data(data)
    case .pending(let id): return .waiting(id: id)
    case .refused(let failure): throw failure
    }
  }

  /// What was agreed to, by its name and team too, and nothing that has come since: a person has agreed
  /// to what the question said.
  func disclosed(_ question: ConsentQuestion) throws -> AnswerData {
    let agreed = Set(question.networks)
    let records = try told(by: question.request, where: agreed.contains).map(\.record)
    guard !records.isEmpty else {
      throw AnswerFailure(
        .conflict,
        "what was agreed to has changed since: repeat the request, and a person is asked again")
    }
    return AnswerData(credentials: records)
  }

  func settle(_ request: ThreadRequest) throws {
    // Over MQTT the topic names the home. A program of this machine may leave it out.
    var home: String? = self.home
    if case .systemUser = context.requester, request.home == nil { home = nil }
    try gate.settle(
      ConsentDecision(
        id: request.id ?? "", approves: request.command == .approveConsent,
        scope: request.scope ?? .once, by: context.requester,
        isAdministrator: context.isAdministrator, isSigned: context.isSigned, home: home,
        token: request.token), tx)
  }

  /// Whoever may deny may have the question asked again.
  func askAgain(_ request: ThreadRequest) throws {
    guard let agent = request.agent else { return }
    try gate.requireDecider(
      ConsentDecision(
        id: "", approves: false, by: context.requester, isAdministrator: context.isAdministrator,
        isSigned: context.isSigned, home: home))
    try registry.askAgain(agent, context: context)
  }

  /// What the requester itself waits for, oldest first.
  func pendingConsents() throws -> AnswerData {
    var data = AnswerData()
    data.pending = try gate.waiting(context, tx)
    return data
  }

  /// - Parameter isAsked: whether it may be among them at all.
  private func told(
    by request: ThreadRequest, where isAsked: (ConsentNetwork) -> Bool
  ) throws -> [DisclosedCredential] {
    switch request.command {
    case .getPreferred:
      return [DisclosedCredential(record: try preferredRecord())].filter { isAsked($0.network) }
    case .getNetwork: return try networkRecords(request.network, where: isAsked)
    default: return try nearbyRecords().filter { isAsked($0.network) }
    }
  }

  private func preferredRecord() throws -> CredentialRecord {
    guard let dataset = try preferredNetwork(), let network = dataset.extendedPANID else {
      throw AnswerFailure(.notFound, "there is no preferred network")
    }
    guard dataset.hasCredentials else {
      throw AnswerFailure(
        .notFound,
        "the network \(network) is preferred, but its credentials are not here",
        help: "`threadkeeper preferred show` says how they come in")
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

  /// The newest one that is asked for; none when there are others only.
  private func networkRecords(
    _ network: ExtendedPANID?, where isAsked: (ConsentNetwork) -> Bool
  ) throws -> [DisclosedCredential] {
    guard let network else {
      throw AnswerFailure(.invalidPayload, field: "ext_pan_id", "expected 16 hex digits")
    }
    // Anybody can name an Extended PAN ID that is on the air: of the preferred network only its own
    // dataset is told.
    if try preferredCredentials()?.extendedPANID == network {
      return [DisclosedCredential(record: try preferredRecord())].filter { isAsked($0.network) }
    }
    let found = try store.all(in: home, on: network, tx).readable.compactMap {
      try disclosable($0, preferred: nil)
    }
    guard !found.isEmpty else {
      throw AnswerFailure(
        .notFound, field: "ext_pan_id", "no credentials of this network are stored")
    }
    var best: DisclosedCredential?
    for one in found where isAsked(one.network) {
      if let other = best?.record, (other.activeTimestamp ?? 0) >= (one.record.activeTimestamp ?? 0)
      {
        continue
      }
      best = one
    }
    return best.map { [$0] } ?? []
  }

  private func nearbyRecords() throws -> [DisclosedCredential] {
    let limit = context.mostEntries
    let found = try store.all(in: home, of: nil, limit: limit.map { $0 + 1 }, tx)
    if let limit, found.readable.count > limit {
      throw AnswerFailure(.tooLarge, "there are more than \(limit), which no answer can hold")
    }
    let preferred = try preferredCredentials()
    return try found.readable.compactMap { try disclosable($0, preferred: preferred) }
      .filter(\.record.isActive)
  }

  /// Nil for what only claims to be the preferred network: it has its Extended PAN ID, and something
  /// else is different.
  private func disclosable(
    _ credential: ThreadCredential, preferred: OperationalDataset?
  ) throws -> DisclosedCredential? {
    guard let record = try record(credential) else { return nil }
    guard let preferred, preferred.extendedPANID == record.network else {
      return DisclosedCredential(record: record, team: credential.team)
    }
    guard credential.dataset.essentialDifferences(from: preferred).isEmpty else { return nil }
    return DisclosedCredential(record: record)
  }
}

extension AnswerFailure {
  package static let tooLargeToSeal = AnswerFailure(
    .tooLarge, "the answer is too large to be sealed; `network/get` asks for one network")
}
