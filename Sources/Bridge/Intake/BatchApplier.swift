// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ClientEnrolment
import KeychainCore
import SQLiteDatabase
import ThreadCredentialStore
import ThreadDataset

/// Applies messages, or what the clock brings, inside one transaction.
///
/// Lives as long as its transaction. Credentials, registry, alerts and events change together or not
/// at all.
final class BatchApplier {
  let configuration: BridgeConfiguration
  let store: ThreadCredentialStore
  let tx: WriteTransaction
  let now: WireTime
  var counts = BatchCounts()
  /// To be sent when the transaction is committed.
  var answers: [Answer] = []
  /// The same, for routers that are to use the preferred network.
  var adoptionMessages: [AdoptionMessage] = []
  var news = BatchNews()
  /// What a grant lets the request of now be told. For the audit, when it has been sealed.
  var granted: GrantedDisclosure?
  /// Most batches have no envelope.
  lazy var decoder = InboundEventDecoder()
  /// Who spoke last: nobody is enrolled or revoked within one transaction.
  var lastSpeaker: (home: Int64, user: String, client: EnrolledClient?)?

  private var homes: [String: HomeContext] = [:]
  private var homesByID: [Int64: HomeContext] = [:]
  /// What later messages of the batch build upon.
  var progress: Progress

  struct Progress {
    fileprivate var lastEvent: Int64
    fileprivate var networks = NetworkChanges()
    fileprivate var raisedMismatches: [(home: Int64, agent: BorderAgentID)] = []

    mutating func takeRaisedMismatches() -> [(home: Int64, agent: BorderAgentID)] {
      defer { raisedMismatches.removeAll() }
      return raisedMismatches
    }
  }

  init(
    configuration: BridgeConfiguration, store: ThreadCredentialStore, now: WireTime,
    _ tx: WriteTransaction
  ) throws {
    self.configuration = configuration
    self.store = store
    self.tx = tx
    self.now = now
    progress = Progress(lastEvent: try EventLedger.lastID(tx))
    for record in try HomeLedger.all(tx) {
      let home = HomeContext(record)
      homes[record.name] = home
      homesByID[record.id] = home
    }
  }

  /// The homes that the settings name, for work that is not about one message.
  var servedHomes: [HomeContext] {
    configuration.topics.homes.compactMap { homes[$0.name] }
  }

  func home(named name: String) throws -> HomeContext {
    guard let home = homes[name] else { throw LedgerError(table: "home", column: "name") }
    return home
  }

  func home(_ id: Int64) throws -> HomeContext {
    guard let home = homesByID[id] else { throw LedgerError(table: "home", column: "id") }
    return home
  }

  func preferredNetwork(of home: HomeContext) throws -> OperationalDataset? {
    if let loaded = home.preferred { return loaded }
    do {
      let preferred = try store.preferredNetwork(of: home.record.name, tx)
      home.preferred = .some(preferred)
      return preferred
    } catch let error as KeychainError where error.status == .decode {
      throw PreferredNetworkDamaged(home: home.record.name)
    }
  }

  /// The dataset that is stored for a router; none where it is damaged, for work that is not about one
  /// message and must go on with the other routers.
  func readableDataset(of agent: BorderAgentID, home: HomeContext) throws -> OperationalDataset? {
    try readableCredential(of: agent, home: home)?.dataset
  }

  func readableCredential(of agent: BorderAgentID, home: HomeContext) throws -> ThreadCredential? {
    do {
      return try store.credential(of: agent, in: home.record.name, tx)
    } catch let error as KeychainError where error.status == .decode {
      return nil
    }
  }

  /// One message. What is wrong with it becomes a rejection; only the store's own failures are thrown.
  func apply(_ message: InboundMessage, _ intake: SealedIntake) throws {
    counts.received += 1
    switch message {
    case .foreign:
      counts.foreign += 1
    case .rejected(let rejection, let origin):
      try reject(rejection, origin)
    case .request(let request, let origin):
      try apply(request, origin)
    case .ignored:
      counts.requestsRefused += 1
    case .event(let event, let user, let origin):
      store.keychain.act(as: "mqtt user \(user)", in: tx)
      try rejecting(origin, event.subject) {
        let home = try home(named: origin.home)
        try requireTrust(in: user, home: home, intake)
        try apply(event, user: user, home: home)
      }
    case .sealed(let message, let user, let origin):
      store.keychain.act(as: "mqtt user \(user)", in: tx)
      var opened: InboundEvent?
      try rejecting(origin) {
        opened = try open(message, user: user, home: home(named: origin.home), intake)
      }
      guard let event = opened else { return }
      try rejecting(origin, event.subject) {
        let home = try home(named: origin.home)
        try apply(event, user: user, home: home)
        if event.dataset != nil { try signedSeen(from: user, home: home, intake) }
      }
    }
  }

  /// What is wrong with the message itself becomes a rejection.
  private func rejecting(
    _ origin: InboundMessage.Origin, _ subject: InboundEvent.Subject? = nil,
    _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch let rejection as Rejection {
      try reject(rejection, origin, of: subject)
    } catch let error as KeychainError where error.status == .decode {
      try reject(
        Rejection(
          .damagedCredentials, field: "border_agent_id",
          message: "the stored credentials of this router are damaged; "
            + "delete them with `threadkeeper credentials delete` or restore a backup"), origin,
        of: subject)
    }
  }

  private func reject(
    _ rejection: Rejection, _ origin: InboundMessage.Origin, of subject: InboundEvent.Subject? = nil
  ) throws {
    if rejection.code == Rejection.Code.retained.rawValue {
      counts.retained += 1
    } else {
      counts.rejected[rejection.code, default: 0] += 1
    }
    var event = EventRecord(
      time: now, types: .messageRejected, home: try home(named: origin.home).record.id)
    event.user = origin.user
    if case .router(let agent) = subject { event.router = agent }
    event.detail.topic = origin.topic
    event.detail.code = rejection.code
    event.detail.field = rejection.field
    event.detail.tlv = rejection.tlv
    event.detail.offset = rejection.offset
    event.detail.message = rejection.message
    try append(event)
  }

  /// A router has been on another network for as long as its alert is held.
  func noteRaised(_ alert: AlertRecord) {
    guard alert.name == .preferredNetworkMismatch, let agent = BorderAgentID(hex: alert.subject)
    else { return }
    progress.raisedMismatches.append((alert.home, agent))
  }

  func countDuplicate() { counts.duplicates += 1 }

  /// - Returns: the id that the event got, which is the generation of the states it changes.
  @discardableResult
  func append(_ event: EventRecord) throws -> Int64 {
    progress.lastEvent += 1
    var event = event
    event.id = progress.lastEvent
    try EventLedger.insert(event, tx)
    counts.events += 1
    news.add(event)
    return progress.lastEvent
  }

  func noteNetwork(
    in home: HomeContext, from before: NetworkContribution?, to after: NetworkContribution?,
    dataset: OperationalDataset? = nil
  ) {
    progress.networks.note(home: home.record.id, from: before, to: after, dataset: dataset)
  }

  /// Routers on a network, with what this batch has changed of them so far.
  func routers(on network: ExtendedPANID, home: HomeContext) throws -> Int {
    let stored = try NetworkLedger.find(network, home: home.record.id, tx)?.routers ?? 0
    return stored + progress.networks.routersChange(of: network, home: home.record.id)
  }

  /// A router joined or left its home.
  func noteRouter(in home: HomeContext, change: Int) {
    home.routersChange += change
    home.needsLook = true
  }

  func noteNetworkShown(_ network: ExtendedPANID?, in home: HomeContext) {
    if let network { progress.networks.noteShown(network, home: home.record.id) }
  }

  /// What follows from the whole batch: the counts of networks, the alerts of homes.
  func finish() throws {
    try beginRaisedAdoptions()
    var networks = progress.networks
    try networks.apply(to: self)
    progress.networks = networks
    for home in homes.values where home.needsLook {
      if home.routersChange != 0 {
        try HomeLedger.addRouters(home.routersChange, to: home.record.id, tx)
      }
      try checkPreferredExists(in: home)
    }
  }
}

/// Every decision needs the preferred network, so without it the intake stands still rather than guess.
struct PreferredNetworkDamaged: Error, CustomStringConvertible {
  let home: String

  var description: String {
    "the stored preferred network of the home \(home) is damaged; restore the store from a backup"
  }
}

/// What came of a batch, in numbers.
struct BatchCounts: Sendable {
  var received: Int64 = 0
  var foreign: Int64 = 0
  var retained: Int64 = 0
  var duplicates: Int64 = 0
  var events: Int64 = 0
  var requestsAnswered: Int64 = 0
  var requestsRefused: Int64 = 0
  var rejected: [String: Int64] = [:]
}

/// A home within one transaction.
final class HomeContext {
  let record: HomeRecord
  /// Loaded when it is first asked for.
  var preferred: OperationalDataset??
  /// It changed within this transaction, so a walk that began before must begin anew.
  var isPreferredNew = false
  /// A router came or went, or the preferred network changed.
  var needsLook = false
  /// Routers that joined less those that left.
  var routersChange = 0
  /// Users whose unsealed datasets were noted within this transaction.
  var plaintextUsers: Set<String> = []

  init(_ record: HomeRecord) {
    self.record = record
  }
}
