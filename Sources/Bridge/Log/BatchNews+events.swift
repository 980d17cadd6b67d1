import Broker
import Home
import HomeStore
import Logging
import ThreadDataset
import Wire

/// What happened, as lines of the log and as sentences.
extension BatchNews {
  /// - Parameters:
  ///   - ways: what remedies and questions name.
  ///   - home: one of them by its name.
  init(_ batch: CommittedBatch, ways: RemedyWays, home: (String) -> Home?) {
    var forgotten = 0
    // By place: a loop over the values would copy each.
    let outcomes = batch.outcomes
    for place in outcomes.indices {
      for event in outcomes[place].output.events {
        if case .forgotten = event { forgotten += 1 }
        add(event, of: outcomes[place].home, ways: ways, home: home)
      }
    }
    if forgotten > 0, hasRoom(.routers) {
      append(.info, "border routers that left are forgotten", ["count": "\(forgotten)"])
    }
  }

  /// - Parameter name: of the home.
  mutating func add(
    _ event: HomeEvent, of name: String, ways: RemedyWays = .init(isOnlyHome: true),
    home: (String) -> Home? = { _ in nil }
  ) {
    switch event {
    case .router(let event): add(event)
    case .alert(let key, let alert, let news, _):
      guard hasRoom(.alerts) else { return }
      append(news, AlertState(key, alert, in: name, ways: ways))
    case .asked(let question):
      guard hasRoom(.consent) else { return }
      append(question, question.reason(home: ways.isOnlyHome ? nil : name))
    case .decided(let record):
      guard hasRoom(.consent) else { return }
      append(record)
    case .notGiven(let record):
      guard let obstacle = record.obstacle, hasRoom(.consent) else { return }
      append(
        .notice, "nothing is given: \(obstacle.message)",
        ["id": "\(record.id.questionText)", "requester": "\(record.requester.shown)"], of: .consent)
    case .adoptionChanged(let agent):
      guard hasRoom(.routers) else { return }
      var metadata: Logger.Metadata = ["border_agent_id": "\(agent)"]
      metadata["router_name"] = (home(name)?.routers[agent]?.name).map { "\($0)" }
      append(.notice, "the preferred credentials are not given: what was asked for has changed", metadata)
    // One line for all of a batch.
    case .forgotten: break
    }
  }

  // MARK: Routers

  private static let words: [(types: RouterEvent.Types, text: Logger.Message)] = [
    (.discovered, "border router found on the local network"), (.announced, "border router announced"),
    (.online, "border router is back"), (.left, "border router left"), (.datasetUpdated, "dataset changed"),
    (.datasetIgnored, "dataset ignored"), (.ssidChanged, "SSID changed"),
    (.preferredChanged, "preferred network changed"), (.datasetSent, "preferred credentials are sent"),
  ]

  private mutating func add(_ event: RouterEvent) {
    for (type, text) in Self.words where event.types.contains(type) && hasRoom(.routers) {
      var metadata: Logger.Metadata = [:]
      metadata["border_agent_id"] = event.router.map { "\($0)" }
      metadata["router_name"] = event.routerName.map { "\($0)" }
      metadata["ext_pan_id"] = (event.network?.id).map { "\($0)" }
      metadata["network_name"] = event.network?.name.filled.map { "\($0)" }
      metadata["reason"] = (event.reason?.rawValue).map { "\($0)" }
      let isFirst = type == .online && event.isFirstNetwork
      append(.info, isFirst ? "border router is on a network now" : text, metadata, as: Self.sentence(type, event))
    }
  }

  private static func sentence(_ type: RouterEvent.Types, _ event: RouterEvent) -> String? {
    let router = event.shownRouter
    let network = event.network?.shown
    let ofNetwork = network.map { " of \($0)" } ?? ""
    switch type {
    case .discovered:
      return "\(router) is seen on the local network, " + (network.map { "on \($0)" } ?? "on no network yet")
    case .announced: return "\(router) announced itself"
    case .online: return event.onlineSentence
    case .left: return "\(router) left"
    case .datasetUpdated: return "\(router) has a new dataset\(ofNetwork)"
    case .datasetIgnored:
      return event.isConflict
        ? "A dataset of \(router) was ignored: it differs from a stored one of the same age"
        : "An older dataset of \(router) was ignored"
    case .ssidChanged: return "The Wi-Fi of \(router) is \(event.ssid ?? "another one") now"
    case .preferredChanged:
      // The same network with another dataset.
      if let network, event.differs != nil, event.previousNetwork == nil {
        return "The preferred network \(network) has changed"
      }
      return network.map { "\($0) is the preferred network now" } ?? "No network is preferred any more"
    case .datasetSent: return "\(router) was sent the credentials\(ofNetwork)"
    default: return nil
    }
  }

  // MARK: Alerts

  private mutating func append(_ news: Alert.News, _ state: AlertState) {
    let isOver = news == .resolved
    var metadata: Logger.Metadata = ["alertname": "\(state.key.name.word)", "summary": "\(state.summary)"]
    if !isOver { metadata["remedy"] = "\(state.remedy)" }
    append(
      isOver ? .info : state.severity.logLevel, isOver ? "alert resolved" : "alert", metadata, of: .alerts,
      as: state.headline, since: isOver ? state.startsAt : nil, about: state.alert.facts.router)
  }

  // MARK: Consent

  /// What a person at the daemon's terminal needs to know, and to type.
  private mutating func append(_ question: ConsentQuestion, _ reason: String) {
    let (id, requester) = (question.id.questionText, question.requester)
    var metadata: Logger.Metadata = [
      "requester": "\(requester.shown)", "command": "\(question.subject.command.wireName)",
      "network": "\(question.subject.networkNames)", "why": "\(reason)",
      "approve": "threadkeeper consent approve \(id)", "deny": "threadkeeper consent deny \(id)",
    ]
    metadata["router"] = (question.subject.router?.shown).map { "\($0)" }
    metadata["fingerprint"] = requester.fingerprint.map { "\($0)" }
    append(
      .notice, "consent is asked for", metadata, of: .consent,
      as: question.subject.command.changesStore
        ? "A person is asked about the store of \(requester.shown): \(reason)"
        : "\(requester.shown) " + (question.subject.command == .accept ? "has" : "asks for")
          + " the credentials of \(question.subject.names)"
          + (question.subject.command == .accept ? ": a person is asked whether they are used" : ""))
  }

  private mutating func append(_ record: ConsentRecord) {
    let (requester, outcome) = (record.requester.shown, record.outcome.wireName)
    var metadata: Logger.Metadata = [
      "id": "\(record.id.questionText)", "requester": "\(requester)", "command": "\(record.subject.command.wireName)",
      "network": "\(record.subject.networkNames)",
    ]
    metadata["router"] = (record.subject.router?.shown).map { "\($0)" }
    metadata["by"] = (record.by?.shown).map { "\($0)" }
    metadata["scope"] = record.scope.map { $0 == .once ? "once" : "always" }
    let by = (record.by?.shown).map { " by \($0)" } ?? ""
    let what =
      record.subject.command == .accept
      ? "The question about the credentials of \(record.subject.names) that \(requester) has"
      : record.subject.command.changesStore
        ? "The question about \(record.subject.names) in the store of \(requester)"
        : "The request of \(requester) for the credentials of \(record.subject.names)"
    append(
      .notice, "consent \(outcome)", metadata, of: .consent,
      as: what + (record.outcome == .expired ? " expired: nobody decided" : " was \(outcome)\(by)"))
  }
}

extension AlertSeverity {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .critical: .critical
    case .warning: .warning
    case .info: .info
    }
  }
}
