import ThreadDataset
import ThreadkeeperSupport

/// What is seen of the name of a router or network: in order, so that others that look so named are found.
struct SeenName: Comparable, Sendable {
  let look: String
  /// Of the look: one number is compared where the looks differ.
  private let hash: UInt32
  /// How many call it so.
  fileprivate var sources: Int32 = 1
  /// Of a border agent id or an Extended PAN ID.
  let id: (high: UInt64, low: UInt64)

  /// - Returns: nil where nothing of the name is seen.
  private init?(_ name: String?, _ id: (high: UInt64, low: UInt64)) {
    guard let look = name.map(ShownName.cleaned), !look.isEmpty else { return nil }
    (self.look, hash, self.id) = (look, UInt32(truncatingIfNeeded: look.hashValue), id)
  }

  init?(_ name: String?, _ agent: BorderAgentID) { self.init(name, agent.numbers) }

  init?(_ name: String?, _ network: ExtendedPANID) { self.init(name, (network.number, 0)) }

  static func == (a: Self, b: Self) -> Bool { a.id == b.id && a.look == b.look && a.sources == b.sources }

  static func < (a: Self, b: Self) -> Bool { a.looksLike(b) ? a.id < b.id : a.comesBefore(b) }

  func looksLike(_ other: Self) -> Bool { hash == other.hash && look == other.look }

  /// Whether it is the same name of the same router or network, however many call it so.
  fileprivate func isSame(as other: Self) -> Bool { id == other.id && looksLike(other) }

  /// Before all that look like another one.
  fileprivate func comesBefore(_ other: Self) -> Bool { hash == other.hash ? look < other.look : hash < other.hash }
}

extension SortedList<SeenName> {
  /// One source calls it otherwise than before; nil: by no name.
  ///
  /// - Returns: whether a name came or went.
  @discardableResult mutating func rename(_ old: SeenName?, _ new: SeenName?) -> Bool {
    if old == new { return false }
    let went = old.map { count(-1, $0) } ?? false
    let came = new.map { count(1, $0) } ?? false
    return went || came
  }

  private mutating func count(_ change: Int32, _ name: SeenName) -> Bool {
    let counted = self.change(after: { $0 < name }, where: { $0.isSame(as: name) }) { $0.sources += change }
    guard let counted else {
      if change > 0 { insert(name) }
      return true
    }
    if counted.sources == 0 { remove(counted) }
    return counted.sources == 0
  }

  /// Whether any source calls it so.
  fileprivate func has(_ one: SeenName) -> Bool {
    var rest = elements(after: { $0 < one })
    return rest.next()?.isSame(as: one) == true
  }

  /// The first one that looks so named and is another one.
  fileprivate func other(than one: SeenName) -> SeenName? { others(than: one, atMost: 1).first }

  fileprivate func others(than one: SeenName, atMost most: Int) -> [SeenName] {
    var (found, rest) = ([SeenName](), elements(after: { $0.comesBefore(one) }))
    while found.count < most, let next = rest.next(), next.looksLike(one) {
      if next.id != one.id { found.append(next) }
    }
    return found
  }
}

/// What has another name by a change of a router.
struct NameNews {
  typealias Change = (old: SeenName?, new: SeenName?)

  /// The router itself, as long as it is on the list.
  var router: Change = (nil, nil)
  /// Its network, where no other router gives it the old name, or none gave it the new one.
  var network: Change = (nil, nil)
}

/// How sentences name routers and networks: by names alone where these are unique.
extension Home {
  /// Of a list of routers, those that look named as another one of it, as `hasNamesake` finds them in a home.
  package static func namesakes(among routers: [(agent: BorderAgentID, name: String?)]) -> Set<BorderAgentID> {
    var names = SortedList<SeenName>()
    for case let one? in routers.map({ SeenName($0.name, $0.agent) }) { names.insert(one) }
    return Set(routers.filter { SeenName($0.name, $0.agent).flatMap(names.other) != nil }.map(\.agent))
  }

  /// Whether another router on the list looks so named.
  package func hasNamesake(_ agent: BorderAgentID, _ name: String?) -> Bool {
    SeenName(name, agent).flatMap(routers.counts.names.other) != nil
  }

  /// Whether another network does: of routers, of logins that share one, or one that is or was preferred.
  package func hasNamesake(_ network: ExtendedPANID, _ name: String) -> Bool {
    // Not by `map`: what is passed to it has a copy of the home.
    guard let one = SeenName(name, network) else { return false }
    return hasNamesake(ofNetwork: one)
  }

  private func hasNamesake(ofNetwork one: SeenName) -> Bool {
    func isOther(_ dataset: DatasetSummary) -> Bool {
      dataset.network.number != one.id.high && ShownName.cleaned(dataset.name) == one.look
    }
    return preferred.map { isOther($0.dataset) } == true || former.contains { isOther($0.dataset) }
      || routers.counts.networkNames.other(than: one) != nil || sharedNames.other(than: one) != nil
  }

  /// A router of the home in a sentence.
  package func shownName(_ agent: BorderAgentID) -> String { routers[agent].map(shownName) ?? agent.description }

  /// One that may not be in the table yet, or not any more.
  func shownName(_ router: Router) -> String {
    ShownName.named(router.name, router.agent, needsID: hasNamesake(router.agent, router.name))
  }

  // MARK: Alerts and events

  /// An alert with its names marked that need their ids beside them.
  func withIDs(_ facts: AlertFacts) -> AlertFacts {
    var facts = facts
    facts.routerNeedsID = if let router = facts.router { hasNamesake(router, facts.routerName) } else { false }
    let networks = facts.networks
    if networks.isEmpty { return facts }
    facts.changeNetworks { network in
      network.needsID =
        hasNamesake(network.id, network.name) || networks.contains { $0.id != network.id && $0.looks(like: network) }
    }
    return facts
  }

  /// Names the router that an event is about, and marks its network where others look so named.
  func name(_ router: Router, in event: inout RouterEvent) {
    event.router = router.agent
    event.routerName = router.name
    event.routerNeedsID = hasNamesake(router.agent, router.name)
    if let network = event.network { event.network?.needsID = hasNamesake(network.id, network.name) }
  }

  /// A router that has left under this id is there under another one: its login publishes for one of the same name.
  func successor(of left: Router) -> Router? {
    guard !left.isPresent, let user = left.user, let one = SeenName(left.ownName, left.agent) else { return nil }
    return routers.counts.names.others(than: one, atMost: 8).lazy.compactMap {
      routers[BorderAgentID(high: $0.id.high, low: $0.id.low)]
    }.first { $0.user == user }
  }

  // MARK: What another name means for others

  /// A network takes a name, by a router that is not in the table yet. What a person has accepted is a network that is
  /// not taken for the preferred one.
  mutating func noteNewName(of router: Router) {
    guard router.isPresent, let network = router.network, accepted.contains(network),
      let preferred = preferred?.dataset, network != preferred.network, let one = SeenName(router.networkName, network),
      one.look == ShownName.cleaned(preferred.name), !routers.counts.networkNames.has(one)
    else { return }
    setAccepted(network, false)
  }

  /// The same, where it is the preferred network that takes a name.
  mutating func noteNewName(ofPreferred preferred: DatasetSummary, before: DatasetSummary?) {
    guard ShownName.cleaned(preferred.name) != before.map({ ShownName.cleaned($0.name) }) else { return }
    for network in accepted where network != preferred.network {
      guard let one = SeenName(preferred.name, network), routers.counts.networkNames.has(one) else { continue }
      setAccepted(network, false)
    }
  }

  /// A router came, went, or has another name, as may its network.
  mutating func noteNames(_ news: NameNews) {
    if let network = news.network.old, hasNamesake(ofNetwork: network) { needs.nameCheck = true }
    if let network = news.network.new, hasNamesake(ofNetwork: network) { needs.nameCheck = true }
    noteNamesake(of: news.router.old)
    noteNamesake(of: news.router.new)
  }

  /// One that is alone now, or was until now, is shown otherwise.
  private mutating func noteNamesake(of router: SeenName?) {
    guard let router else { return }
    let others = routers.counts.names.others(than: router, atMost: 2)
    if others.count == 1 { step.namesakes.insert(BorderAgentID(high: others[0].id.high, low: others[0].id.low)) }
  }

  /// Alerts and devices of routers that are alone with their names now, or not any more.
  mutating func nameAgain() {
    if step.namesakes.isEmpty { return }
    for agent in step.namesakes.sorted() {
      changes.routers.insert(agent)
      discovery.needsSplitCheck = true
      guard routersWithAlerts.contains(agent) else { continue }
      for name in AlertName.ofRouters { nameAgain(AlertKey(name, .router(agent))) }
    }
    step.namesakes = []
  }

  mutating func nameAgain(_ key: AlertKey) {
    guard let alert = alerts[key], alert.phase != .resolved else { return }
    setAlert(key, alert.heldFacts ?? alert.facts)
  }
}
