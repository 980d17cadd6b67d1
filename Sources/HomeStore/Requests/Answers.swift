import Home
import KeychainCore
import ThreadDataset
import ThreadRequests
import Wire

/// From what a home answers to what is on the wire.
package struct AnswerWriter {
  /// The name of the home.
  package var home: String
  /// Whether there are several, so that its name belongs into questions and commands.
  package var namesHome = false
  /// Of a border router, for a sentence.
  package var routerName: (BorderAgentID) -> String = \.description
  /// Of the callers that wait on connections for a question.
  package var transactions: (ConsentID) -> [String] = { _ in [] }
  /// The home was looked at once more: what has become another dataset all the same is left out of a list.
  package var isSecondLook = false
  /// The dataset that lies under a record. Only lent: it is in memory while the answer is made.
  private let dataset: (RecordKey) throws -> OperationalDataset?
  private let datasets: DatasetReader

  /// - Parameter datasets: with the hashes of the home's own summaries.
  package init(home: String, datasets: DatasetReader, dataset: @escaping (RecordKey) throws -> OperationalDataset?) {
    self.home = home
    self.datasets = datasets
    self.dataset = dataset
  }

  /// - Parameters:
  ///   - request: that is answered; nil where it has waited for a person.
  ///   - context: of the request.
  /// - Returns: nil where a person is asked first.
  /// - Throws: `AnswerFailure`, also for what is stored and does not open.
  package func data(of answer: HomeAnswer, to request: ThreadRequest? = nil, _ context: RequestContext? = nil)
    throws(AnswerFailure) -> AnswerData?
  {
    var data = AnswerData()
    switch answer {
    case .waiting: return nil
    case .refused(let refusal):
      throw AnswerFailure(refusal, to: request, home: namesHome ? home : nil, naming: routerName)
    case .stored(let change, let preferred):
      data.change =
        switch change {
        case .store: .stored
        case .keep: .unchanged
        case .update, .move, .ignoreOlder, .conflict: .updated
        }
      data.preferred = preferred.published
    case .deleted: data.deleted = true
    case .credentials(let found): try write(found, to: request, context, &data)
    case .available(let isAvailable): data.available = isAvailable
    case .checked(let check):
      data.result = check.published
      data.differs = check.differences.parameters.map(\.rawValue)
    case .preferredSet(let isChanged, let hasCredentials, let owner):
      data.changed = isChanged
      data.source = owner?.keyOwner
      if !hasCredentials { data.available = false }
    case .forgotten(let networks, let remaining, let sharedBy):
      data.forgotten = networks.map(FormerNetworkRecord.init)
      if request?.command == .forgetPreferred {
        data.changed = true
      } else {
        data.remaining = remaining.map(\.description)
        if !sharedBy.isEmpty { data.sharedBy = sharedBy.map(\.text) }
      }
    case .questions(let questions):
      data.pending = questions.map { waiting($0, isAdministrator: context?.isAdministrator ?? false) }
    // A decision is taken, or a command has done its work: nothing is to be said.
    case .decided, .revoked, .asksAgain, .removed, .accepted, .joined, .enrolled, .revokedClient: break
    }
    return data
  }

  /// Lists hold secrets for a program on this machine, of its own team. What cannot be opened is left out of several,
  /// and named; where nothing else was asked for, nothing is answered.
  private func write(
    _ found: [StoredCredentials], to request: ThreadRequest?, _ context: RequestContext?, _ data: inout AnswerData
  ) throws(AnswerFailure) {
    var isList = false
    if let command = request?.command { isList = command == .listCredentials || command == .listActiveCredentials }
    var records: [CredentialRecord] = []
    var damaged: [String] = []
    var failure: AnswerFailure?
    for one in found {
      var record = CredentialRecord(one)
      if !isList || context?.reply == .caller {
        do throws(AnswerFailure) { record.dataset = try opened(one.dataset, at: one.secret) } catch {
          switch error.known {
          case .damagedCredentials: damaged += one.agent.map { [$0.description] } ?? []
          // Nobody has agreed to what is there now.
          case .conflict where !isList || isSecondLook: break
          default: throw error
          }
          failure = failure ?? error
          continue
        }
      }
      records.append(record)
    }
    if let failure, !isList, records.isEmpty { throw failure }
    data.credentials = records
    if !damaged.isEmpty { data.damaged = damaged }
  }

  /// What lies there may be another one since the home has decided to give this one, and nobody has agreed to that.
  package func opened(_ agreed: DatasetSummary, at key: RecordKey) throws(AnswerFailure) -> OperationalDataset {
    let found: OperationalDataset?
    do { found = try dataset(key) } catch let error as KeychainError where !error.isItemDamaged {
      throw AnswerFailure(.store, error.message)
    } catch { found = nil }
    if let found {
      guard agreed.parameters?.whole == datasets.hash(found.bytes, as: .dataset) else {
        throw AnswerFailure(.changed, to: nil)
      }
      return found
    }
    let message =
      switch key {
      case .home: "the stored preferred network is damaged; restore a backup"
      case .shared: "what is stored is damaged: delete it with `threadkeeper networks forget`, or restore a backup"
      default: "what is stored is damaged: delete it with `threadkeeper credentials delete`, " + "or restore a backup"
      }
    throw AnswerFailure(.damagedCredentials, message)
  }

  /// What the networks are is said only to who may decide it: before somebody agrees, nothing is given.
  private func waiting(_ question: ConsentQuestion, isAdministrator: Bool) -> WaitingQuestion {
    let id = question.id
    let transactions = question.replies.compactMap(\.transaction) + transactions(id)
    var waiting = WaitingQuestion()
    (waiting.id, waiting.command) = (id.questionText, question.subject.command.wireName)
    if question.subject.command == .network { waiting.extendedPANID = question.subject.onlyNetwork?.description }
    (waiting.expiresAt, waiting.transactions) = (question.expiresAt.description, transactions)
    if isAdministrator { waiting.reason = question.reason(home: namesHome ? home : nil) }
    return waiting
  }
}

extension AnswerData {
  /// What `ping` comes to.
  package static func pong(_ version: String, at now: WireTime) -> AnswerData {
    var data = AnswerData()
    data.time = now.description
    data.version = version
    return data
  }
}

extension AnswerFailure {
  /// A request with which the commit has failed: nothing of it is done.
  package init(ofStore error: any Error) {
    let error = error as? KeychainError
    self.init(
      error?.status == .readOnly ? .readOnly : .store, error?.message ?? "the store fails; the daemon's log says why")
  }

  /// A caller that has hung up before its request was handled.
  package static let nobodyWaits = AnswerFailure(.expired, "nobody waits for the answer any more")
}

extension ReplyAddress {
  package var transaction: String? { if case .topic(_, _, let transaction) = self { transaction } else { nil } }
}

extension CredentialRecord {
  fileprivate init(_ one: StoredCredentials) {
    self.init(agent: one.agent, network: one.dataset.network, networkName: one.dataset.name, isActive: one.isActive)
    let parameters = one.dataset.parameters
    channel = parameters.map { Int($0.channelNumber) }
    panID = parameters?.panID
    activeTimestamp = one.dataset.activeSeconds
    created = one.createdAt
    modified = one.changedAt
  }
}

extension FormerNetworkRecord {
  package init(_ former: FormerNetwork) {
    self.init()
    (id, until) = (FormerNetwork.text(of: former.id), former.until.description)
    (networkName, extPanId) = (former.dataset.name, former.dataset.network.description)
    (channel, activeTimestamp) = (former.dataset.parameters?.channelNumber, former.dataset.activeSeconds)
  }
}
