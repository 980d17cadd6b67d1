import Broker
import Home
import HomeStore
import Settings
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// What remedies name: the home where there are several, and a button where there is one.
package struct RemedyWays: Hashable, Sendable {
  package let isOnlyHome: Bool
  /// Where somebody can press buttons: `on the status page`.
  var buttons: [String] = []
  /// Whether the reader looks at the page, where an alert has the buttons that its remedy names.
  var isOnPage = false

  package init(isOnlyHome: Bool) { self.isOnlyHome = isOnlyHome }

  package static func page(isOnlyHome: Bool) -> RemedyWays {
    var ways = RemedyWays(isOnlyHome: isOnlyHome)
    ways.isOnPage = true
    return ways
  }

  /// Home Assistant has buttons where its login decides, and the nodes of a fleet have no page of a home.
  package init(_ settings: Settings, isOnlyHome: Bool) {
    let (assistant, isNode) = (settings.homeAssistant, settings.store.url != nil)
    self.init(isOnlyHome: isOnlyHome)
    buttons =
      (assistant.discoveryPrefix != nil && assistant.approver != nil ? ["in Home Assistant"] : [])
      + (settings.http.isEnabled && !isNode ? ["on the status page"] : [])
  }
}

/// What an alert says to people: what is wrong, and what to do. Names that others have chosen are quoted and cut.
struct AlertText {
  let summary: String
  let remedy: String

  /// - Parameters:
  ///   - alert: which one it is, where its remedy depends on that.
  ///   - homeOption: for commands: ` --home NAME`, or nothing where there is one home.
  ///   - vendor: of the router, as its record says.
  init(
    _ facts: AlertFacts, of alert: AlertName? = nil, homeOption: String,
    ways: RemedyWays = RemedyWays(isOnlyHome: true), vendor: String? = nil
  ) {
    let sentences = AlertSentences(facts: facts, alert: alert, homeOption: homeOption, ways: ways, vendor: vendor)
    let both = sentences.both
    (summary, remedy) = (both.0, both.1 + sentences.never)
  }
}

extension AlertFacts {
  /// Where its router is, if a person may accept that: then it raises no alert there.
  package var acceptable: Named? { configured == nil && !hasNoNetwork && network?.id != preferred?.id ? network : nil }

  /// The reason of an alert, for programs.
  var reason: StaticString? {
    switch message {
    case .neverMember: "never_member"
    case .offline(let reason), .agentSilent(let reason): reason?.word
    case .lostNetwork: OfflineReason.noNetwork.word
    case .silentWithoutNetwork: OfflineReason.silent.word
    case .notSeen(let isStopped): isStopped ? OfflineReason.stopped.word : nil
    case .adoptionFailed(let state, _): state.word
    case .noPreferred(_, let networks, let more): networks.count + more > 1 || user != nil ? "several_networks" : nil
    case .preferredChanged(let change, let disagrees):
      disagrees ? AdoptionState.disagreement.word : change.hasUnconfirmedKeys ? "unconfirmed_keys" : nil
    default: nil
    }
  }
}

/// The summary and the remedy of an alert, made of its facts.
struct AlertSentences {
  let facts: AlertFacts
  let alert: AlertName?
  let homeOption: String
  let ways: RemedyWays
  let vendor: String?

  /// By the first word of a router's vendor: a maker's records have `Google`, `Google Inc.` or `Google LLC`. Whether an
  /// app gives a router other credentials is its maker's affair.
  private static let apps = [
    "amazon": "the Alexa app", "apple": "Apple's Home app", "google": "the Google Home app",
    "samsung": "the SmartThings app", "smartthings": "the SmartThings app",
  ]
  var app: String? {
    let maker = vendor?.lowercased().split { !$0.isLetter && !$0.isNumber }.first
    return maker.flatMap { Self.apps[String($0)] }.map { "in \($0), if that offers it" }
  }
  var inItsApp: String { app ?? "in its own app or page" }

  var agent: String { facts.router?.description ?? "" }
  var name: String { ShownName.named(facts.routerName, agent, needsID: facts.routerNeedsID) }
  var preferredName: String { facts.preferred.flatMap { $0.name.isEmpty ? nil : $0.shown } ?? "the preferred network" }
  /// The network that its dataset is for.
  var configured: String {
    (facts.configured ?? facts.network).map { $0.name.isEmpty ? "network \($0.id)" : $0.shown } ?? "its network"
  }
  /// The network that it is on.
  var network: String {
    guard facts.configured != nil, let current = facts.network else { return configured }
    return ShownName.quoted(current.name).map { "\($0) (\(current.id))" } ?? "network \(current.id)"
  }
  /// What a dataset lacks.
  var lacking: String { "\(list(facts.otherNames)) \(facts.otherNames.count == 1 ? "is" : "are") missing" }
  var user: String { ShownName.account(facts.user?.text ?? "") }
  /// For a command, which a shell reads.
  var login: String { user == facts.user?.text ? user : "LOGIN" }
  var since: String { facts.since?.description ?? "" }

  var both: (String, String) {
    switch facts.message {
    case .elsewhere(let isConfigured): elsewhere(isConfigured)
    case .notAttached: notAttached
    case .neverMember: neverMember
    case .otherNetwork: otherNetwork
    case .otherCredentials: otherCredentials
    case .behind: behind
    case .reportsOlder: reportsOlder
    case .sameAge: sameAge
    case .reportsConflict: reportsConflict
    case .noDataset: noDataset
    case .offline(let reason): offline(reason)
    case .lostNetwork(let isLast): lostNetwork(isLast: isLast)
    case .silentWithoutNetwork: silentWithoutNetwork
    case .notSeen(let isStopped): notSeen(isStopped: isStopped)
    case .agentSilent(let reason): agentSilent(reason)
    case .recordGone: recordGone
    case .awayTogether(let routers, let all): awayTogether(routers, of: all)
    case .detached: detached
    case .notAdvertised: notAdvertised
    case .wellKnownKey: wellKnownKey
    case .joined: joined
    case .wasReset(let isOnPreferred): wasReset(isOnPreferred: isOnPreferred)
    case .reportsDiffer: reportsDiffer
    case .openForCode: openForCode
    case .adoptionFailed(let state, let isConfigured): adoptionFailed(state, isConfigured)
    case .noPreferred(let isForgotten, let networks, let more):
      noPreferred(isForgotten, networks, networks.count + more)
    case .plaintext: plaintext
    case .networkChanges(let channel, let name): changes(channel, name)
    case .keysDisputed(let claimed, let current, let departed, let hasDamage):
      disputed(claimed, current, departed, hasDamage)
    case .preferredChanged(let change, _): changed(change)
    case .movedTo(let routers, let all, let lost): moved(routers, of: all, lost: lost)
    case .preferredEmpty(let routers, let elsewhere): empty(routers, elsewhere)
    case .split(let named, let parts): split(named, parts)
    case .otherPreferred, .sharedPartial, .sharedOlder, .sharedConflict: shared()
    case .ghostNetwork(let isAsked): ghostNetwork(isAsked)
    case .ghostAgent(let isAsked): ghostAgent(isAsked)
    case .agentNotWorking(let trouble): agentNotWorking(trouble)
    case .matterServerDiffers(let trouble): matterServer(trouble)
    case .daemon: (facts.names.first.first ?? "", daemonRemedy)
    }
  }

  /// Of a router that runs on another network than it is configured for: OpenThread hands a dataset that is set on an
  /// attached router to the leader, for the whole network.
  var never: String {
    facts.configured == nil
      ? "" : " Do not set a dataset while Thread runs on \(name): that can move the other routers of \(network), too."
  }

  /// `press "Ask again" on the status page`; nil where there is no button.
  func press(_ button: String) -> String? {
    ways.buttons.isEmpty ? nil : "press \"\(button)\" \(ways.buttons.joined(separator: " or "))"
  }

  var daemonRemedy: String {
    guard ways.isOnPage, alert == .testAlert else { return facts.names.first.last ?? "" }
    return "Nothing is wrong. Once it is on your phone, or where else you look, press \"It arrived\". This resolves by "
      + "itself within ten minutes."
  }

  /// What a command does, or on the page the button of the alert.
  func run(_ command: String, or button: String) -> String {
    ways.isOnPage ? "press \"\(button)\"" : "run `threadkeeper \(command)`"
  }

  /// Names for a sentence: at most three, and how many more there are.
  func list(_ names: AlertFacts.Names) -> String {
    var shown = names.first
    let more = names.count - shown.count
    if more > 0 { shown.append("\(more) more") }
    guard let last = shown.popLast() else { return "nobody" }
    return shown.isEmpty ? last : "\(shown.joined(separator: ", ")) and \(last)"
  }

  /// The names of what differs, which are no secrets.
  var differing: String? {
    facts.differs.flatMap { $0.isEmpty ? nil : $0.parameters.map(\.rawValue).joined(separator: ", ") }
  }

  func conflict(with other: String) -> String {
    (differing.map { "it differs (\($0)) from \(other) of the same age, or " } ?? "")
      + "its timestamp is more than a year ahead"
  }
}
