import Bridge
import Broker
import Home
import HomeStore
import ServiceDiscovery
import Settings
import StatusPage
import ThreadDataset
import Wire

/// What the page shows. Nothing secret has a place here, and nothing that changes by itself.
struct PageState: Encodable {
  struct Part: Encodable {
    /// `broker`, `intake`, `store`, `discovery`.
    var name: String
    /// `ok`, `bad`, `off`.
    var state: String
    /// One sentence.
    var text: String
    var remedy: String?
  }

  struct Router: Encodable {
    var id: String
    var name: String
    /// What it calls itself, where a person has named it otherwise.
    var ownName: String?
    /// Others look so named.
    var isAlike: Bool
    /// Vendor and model.
    var make: String?
    /// On the local network.
    var address: String?
    /// Of Thread.
    var version: String?
    /// When it came to the home: RFC 3339, to the minute.
    var firstSeen: String
    /// When its dataset changed last: RFC 3339, to the minute.
    var changed: String?
    var online: Bool
    /// RFC 3339, to the minute; nil while it is seen on the local network.
    var seen: String?
    /// When it showed itself last that it has the dataset that is stored for it: RFC 3339, to the minute.
    var read: String?
    /// Whether a person may have it read now.
    var isReadable: Bool
    var pending: Pending?
    /// Remarks about it: not on the preferred network, runs on another network, …
    var notes: [String]
    /// Its off-mesh routable prefix.
    var omr: String?
    var sharesByCode: Bool
    /// Whether only its record on the local network says that it is there.
    var onlySeen: Bool
    /// Whether a person may accept that it joined the preferred network.
    var isNew: Bool
    /// Whether it is away for longer than a power cut would explain: then a person may forget it.
    var isGone: Bool
    /// The severity of the worst alert about it; nil: there is none.
    var fault: String?
    /// Its last 30 days, the oldest first: of each six hours the worst.
    var past: [RouterSpan]
    /// The same in words.
    var pastTotals: [RouterTotal]
  }

  /// What the network of a router changes to.
  struct Pending: Encodable {
    var what: String
    /// When: RFC 3339.
    var at: String
  }

  struct Network: Encodable {
    /// Nil for routers without a network.
    var id: String?
    var name: String
    /// Others look so named.
    var isAlike: Bool
    var channel: Int?
    var preferred: Bool
    /// False: it is preferred by its Extended PAN ID alone.
    var credentials: Bool
    var accepted: Bool
    /// Where its credentials come from that logins share.
    var sharedBy: [Share]
    /// Whether a person can prefer it.
    var preferable: Bool
    var routers: [Router]
  }

  /// Of a login that is no border router.
  struct Share: Encodable {
    /// What people call it, with its login.
    var name: String
    /// When it reported them last: RFC 3339, to the minute.
    var read: String
  }

  struct Home: Encodable {
    var name: String
    /// Border routers are on several networks, and none is preferred: nothing is checked until a person prefers one.
    var undecided: Bool
    /// `not_protected`, `watching`, `protected`.
    var protection: String
    var steps: [Step]
    /// When the credentials of the preferred network were read last: RFC 3339, to the minute.
    var keyRead: String?
    /// What its agent says of a Matter server that is given the credentials; nil: none is.
    var matterServer: String?
    var networks: [Network]
    /// Routers that are not listed, because there are too many.
    var more: Int
  }

  /// Of protection.
  struct Step: Encodable {
    var name: String
    var text: String
    /// How it is taken; nil: it is done.
    var remedy: String?
    /// What is so now that it is done.
    var fact: String?
  }

  struct Alert: Encodable {
    /// Its fingerprint.
    var id: String
    var home: String
    /// Border agent id of the router that it is about; nil for others.
    var router: String?
    var name: String
    var severity: String
    var summary: String
    var remedy: String
    var since: String
    /// What its remedy says to press.
    var buttons: [Button]
  }

  /// A change that is offered where its reason is shown.
  struct Button: Encodable, Equatable {
    var label: String
    /// What is changed, by its name and its id.
    var about: String
    /// As `PageChange` takes it.
    var path: String
    var with: Fields

    struct Fields: Encodable, Equatable {
      var home: String
      var borderAgentId: String?
      var extPanId: String?
      var id: String?
    }
  }

  struct Consent: Encodable {
    var id: String
    var requester: String
    /// Of the key that the answer is sealed to; nil on this machine, where nothing is sealed.
    var fingerprint: String?
    /// That would be given the credentials; nil where the requester asks for itself.
    var router: String?
    var reason: String
    var networks: [String]
    /// The requester has the credentials, which the home would use, and gets none.
    var offers: Bool
    /// The button that has its store changed; nil: it asks for credentials, or has some.
    var change: String?
    var expires: String
  }

  struct Event: Encodable {
    var at: String
    var severity: String
    /// A sentence.
    var text: String
  }

  /// An alert that has ended.
  struct Ended: Encodable {
    var since: String
    var at: String
    /// A sentence.
    var text: String
    /// Border agent id of the router that it was about.
    var router: String?
  }

  var version: String
  var health: [Part]
  var homes: [Home]
  var alerts: [Alert]
  var consents: [Consent]
  var events: [Event]
  var ended: [Ended]
  /// When a backup was made last: RFC 3339, to the minute. Nil: none is known.
  var backup: String?
}

extension PageState.Part {
  /// Records that are not listed and are named.
  private static let unlistedShown = 10

  init(_ check: Readiness.Check) {
    name = check.name
    state = check.ok ? "ok" : "bad"
    text = check.ok ? "works" : check.reason ?? "does not work"
  }

  init(_ discovery: DiscoveryState) {
    name = "discovery"
    switch discovery.state {
    case .off:
      state = "off"
      text = "is switched off"
    case .starting:
      state = "ok"
      text = "starts"
    case .running:
      state = "ok"
      let routers = discovery.routers ?? 0
      let unlisted = discovery.unlisted ?? []
      text =
        "\(routers) border router\(routers == 1 ? "" : "s") can be seen"
        + unlisted.prefix(Self.unlistedShown).map { "; \($0.sentence)" }.joined()
        + (unlisted.count > Self.unlistedShown ? "; \(unlisted.count - Self.unlistedShown) more are not listed" : "")
    case .unavailable:
      state = "bad"
      text = discovery.problem ?? "is not available"
      remedy = discovery.remedy
    }
  }
}

extension PageState {
  /// Routers of a home that the page draws.
  static let routersShown = 300
  /// Alerts of a home that it lists.
  static let alertsShown = 100

  /// - Parameters:
  ///   - discovery: of border routers on the local network. Those that are only seen belong to the first home.
  ///   - machine: its interfaces, where they may be read.
  ///   - backup: when one was made last.
  /// - Throws: where an alert cannot be shown.
  init(
    _ snapshot: HomeSnapshot, _ settings: Settings, health: [Part], recent: RecentEvents, discovery: DiscoveryState,
    machine: MachineNetwork? = nil, backup: WireTime? = nil, at now: WireTime
  ) throws {
    version = threadkeeperVersion
    self.health = health
    self.backup = backup?.toTheMinute.description
    events = recent.newest.map { Event($0) }
    ended = recent.ended.map {
      Ended(
        since: ($0.since ?? $0.at).description, at: $0.at.description, text: $0.text.printable,
        router: $0.router?.description)
    }
    let all = snapshot.inOrder(of: settings)
    consents = snapshot.waitingQuestions(at: now).map { question in
      Consent(
        question.value, home: all.count > 1 ? question.home : nil,
        isAlike: { network in
          all.contains { $0.name == question.home && $0.home.hasNamesake(network.id, network.name.text) }
        })
    }
    let ways = RemedyWays.page(isOnlyHome: all.count == 1)
    let alerts = all.flatMap { name, home in
      home.alertStates(in: name, ways: ways, most: Self.alertsShown).map {
        Alert($0, preferredSince: home.preferred?.changedAt)
      }
    }.sorted { $0.order < $1.order }
    self.alerts = alerts
    homes = all.map { name, home in
      let own = alerts.filter { $0.home == name && $0.router != nil }
      return Home(
        home, name: name, discovery.state, whyNone: name == all.first?.name ? discovery.whyNone(on: machine) : nil,
        alerts: Dictionary(grouping: own) { $0.router ?? "" }, at: now)
    }
  }
}

extension PageState.Home {
  /// - Parameters:
  ///   - whyNone: why no router is found by discovery; nil: routers on the local network are another home's.
  ///   - alerts: about each router that has some, the worst first.
  init(
    _ home: Home, name: String, _ discovery: DiscoveryState.State, whyNone: String?,
    alerts: [String: [PageState.Alert]], at now: WireTime
  ) {
    self.name = name
    var groups: [ExtendedPANID?: [PageState.Router]] = [:]
    for router in home.routers.lazy.filter(\.isPresent).prefix(PageState.routersShown) {
      groups[router.network, default: []].append(
        PageState.Router(
          router, isAlike: home.hasNamesake(router.agent, router.name), home.verdict(of: router),
          isGone: home.isGone(router), past: home.past(of: router, at: now),
          alerts: alerts[router.agent.description] ?? [],
          seen: router.isAdvertised && discovery == .running ? nil : home.routers.lastSeen(router.agent)))
    }
    more = max(0, home.routers.totals.listed - PageState.routersShown)
    let shown = home.networks.filter { $0.isPreferred || groups[$0.id] != nil || !$0.sharedBy.isEmpty }
    networks = (shown.filter(\.isPreferred) + shown.filter { !$0.isPreferred }).map { network in
      let (routers, shared) = (groups[network.id] ?? [], home.shared(of: network.id).map(PageState.Share.init))
      return PageState.Network(
        id: network.id.description, name: network.name, isAlike: home.hasNamesake(network.id, network.name),
        channel: network.dataset?.parameters.map { Int($0.channelNumber) }, preferred: network.isPreferred,
        credentials: !network.isPreferred || home.preferred?.dataset.hasCredentials == true,
        accepted: network.isAccepted && !network.isPreferred, sharedBy: shared,
        preferable: !routers.isEmpty || !shared.isEmpty, routers: routers)
    }
    let protection = home.protection
    self.protection = protection.state.word.description
    let candidates = networks.count { $0.preferable && !$0.accepted }
    steps = protection.steps.map {
      PageState.Step(
        $0, of: home, isMissing: protection.missing.contains($0), whyNone: whyNone, candidates: candidates,
        takesCodes: discovery != .off)
    }
    keyRead = home.keyReadAt?.toTheMinute.description
    matterServer = home.matterServerAgent.map {
      $0.isSilent ? "its agent reports nothing any more" : ($0.trouble ?? "has the key").printable
    }
    undecided = home.preferred == nil && networks.count { !$0.routers.isEmpty } > 1
    if let routers = groups[nil] {
      networks.append(
        .init(
          id: nil, name: "", isAlike: false, channel: nil, preferred: false, credentials: true, accepted: false,
          sharedBy: [], preferable: false, routers: routers))
    }
  }
}

extension PageState.Step {
  /// - Parameters:
  ///   - whyNone: why no router is found by discovery; nil: routers on the local network are another home's.
  ///   - candidates: networks that may be a person's own.
  ///   - takesCodes: whether a code can ever open a border router: only one that is looked for.
  init(_ step: Protection.Step, of home: Home, isMissing: Bool, whyNone: String?, candidates: Int, takesCodes: Bool) {
    name = step.word.description
    let (remedy, fact): (String, String?)
    switch step {
    case .routers:
      text = "Border routers are found"
      remedy = whyNone ?? "Those on the local network belong to the first home. Run an agent at a router of this one."
      fact = "\(home.routers.totals.listed) found"
    case .preferred:
      text = "One network is mine"
      remedy =
        switch candidates {
        case 0: "No network is known yet that may be yours. As soon as a border router is on one, you are asked here."
        case 1: "Is this your network?"
        default: "Which of these is your network?"
        }
      fact = home.preferred.map { $0.dataset.name.isEmpty ? "\($0.dataset.network)" : $0.dataset.name.printable }
    case .key:
      text = "Its key is stored"
      remedy =
        takesCodes
        ? "Have a border router, or its app, show a code, and type it here. It is good for some minutes, and once."
        : "Send it from your phone to Home Assistant: threadkeeper has it from there."
      // The page says when it was read.
      fact = nil
    case .alerts:
      text = "Alerts reach me"
      remedy =
        "A test goes where alerts go: to Home Assistant, from there to your phone, and here. Or say that you look here."
      fact = "confirmed"
    case .recoveryCode:
      text = "A recovery code is kept elsewhere"
      remedy = "If this machine dies, it opens your backup. It is shown once: write it down."
      fact = "made"
    }
    self.remedy = isMissing ? remedy : nil
    self.fact = isMissing ? nil : fact
  }
}

extension DiscoveryState {
  /// Interfaces that are named.
  private static let interfacesShown = 3

  /// Why no border router is found on the local network, and what to do.
  func whyNone(on machine: MachineNetwork?) -> String {
    switch state {
    case .off:
      return "They are not looked for: `discovery.mdns` is `off` in the settings. Set it to `auto`, and restart the "
        + "daemon."
    case .starting: return "The search has only begun. It takes some seconds."
    case .unavailable:
      return [problem ?? "They cannot be looked for.", remedy].compactMap(\.self).joined(separator: " ")
    case .running: break
    }
    if let unlisted = unlisted?.first { return "\(unlisted.sentence)." }
    if let reporter { return "The agent of \(reporter.printable) looks for them, and none answers there." }
    let inUse = machine?.interfaces.filter { !$0.addresses.isEmpty }
    guard inUse != [] else {
      return "This machine has no network: none of its interfaces has an address. Connect it; a container needs the "
        + "network of its host."
    }
    let names = inUse?.prefix(Self.interfacesShown).map { $0.name + ($0.address.map { " (\($0))" } ?? "") }.listed
    let filters = inUse?.first(where: \.filtersMulticast).map {
      " The bridge \($0.name) may keep it away: it passes only multicast that somebody has asked for."
    }
    return "None answers by mDNS on \(names ?? "this machine's network"). Turn one on, in this same network: no guest "
      + "network, no VLAN of its own.\(filters ?? "")"
  }
}

extension MachineNetwork.Interface {
  /// Of IPv4.
  fileprivate var address: String? {
    addresses.first { $0.bytes.count == 4 }.map { $0.bytes.map(String.init).joined(separator: ".") }
  }
}

extension PageState.Share {
  init(_ one: SharedCredentials) {
    let user = one.user.text.printable
    name = one.name.map { "\($0.printable) (login \(user))" } ?? "the login \(user)"
    read = one.reportedAt.toTheMinute.description
  }
}

extension WireTime {
  /// So that the page does not change with each second.
  fileprivate var toTheMinute: WireTime {
    let minute: Int64 = 60_000
    return WireTime(milliseconds: milliseconds / minute * minute)
  }
}

extension PageState.Router {
  /// - Parameters:
  ///   - alerts: about it, the worst first: what they say is no remark.
  ///   - seen: nil while it is seen on the local network.
  init(
    _ router: Router, isAlike: Bool, _ verdict: PreferredCheck, isGone: Bool, past hourly: [RouterPast.Standing],
    alerts: [PageState.Alert], seen: WireTime?
  ) {
    func says(_ name: AlertName) -> Bool { alerts.contains { $0.name == name.word.description } }
    let worst = stride(from: 0, to: hourly.count, by: 6).compactMap { hourly.dropFirst($0).prefix(6).max() }
    past = RouterSpan.all(worst, hours: 6)
    pastTotals = RouterSpan.all(hourly).totals
    id = router.agent.description
    self.isAlike = isAlike
    name = (router.name ?? "").printable.isEmpty ? id : (router.name ?? "").printable
    ownName = router.ownName == router.name ? nil : router.ownName?.printable
    let parts = [router.vendor, router.model].compactMap { $0?.printable }
    make = parts.isEmpty ? nil : parts.joined(separator: " ")
    address = router.address
    version = router.threadVersion?.printable
    firstSeen = router.firstSeenAt.toTheMinute.description
    changed = router.datasetChangedAt?.toTheMinute.description
    online = router.isOnline
    self.seen = seen?.toTheMinute.description
    read = router.reading?.readAt?.toTheMinute.description
    isReadable = router.reading != nil && seen == nil
    notes = []
    if !says(.preferredNetworkMismatch) {
      if verdict.isMismatch, !router.hasNoNetwork { notes.append("not on the preferred network") }
      if router.isElsewhere { notes.append("runs on another network than its dataset says") }
    }
    switch says(.borderRouterOffline) ? nil : router.offlineReason {
    case .stopped: notes.append("Thread is stopped")
    case .unreachable: notes.append("cannot be reached")
    case .frozen: notes.append("does not answer")
    case .untrusted: notes.append("is not asked: another user listens in its place")
    case .noNetwork: notes.append("has no Thread network")
    case .failing: notes.append("its REST interface fails" + (router.httpStatus.map { " with status \($0)" } ?? ""))
    case .silent: notes.append("sends no heartbeat")
    case nil: break
    }
    if let reporter = router.reporter { notes.append("seen by the agent of \(reporter.text.printable) alone") }
    if router.isOnline, router.threadState == .detached, !says(.routerDetached) {
      notes.append("Thread is not connected to its network")
    }
    if !router.lacks.isEmpty, !says(.credentialsMissing) {
      notes.append("its dataset lacks \(router.lacks.map(\.name).listed)")
    }
    switch router.reading?.problem {
    case .noAnswer: notes.append("did not answer when it was read")
    case .refused: notes.append("refused the credentials of its network when it was read")
    case .invalid: notes.append("gave no valid answer when it was read")
    case nil: break
    }
    pending = router.reading?.pending.map {
      let what = $0.channel.map { "to channel \($0)" } ?? "(\($0.differs.parameters.map(\.rawValue).listed))"
      return PageState.Pending(what: what, at: $0.at.description)
    }
    omr = router.offMeshPrefix?.prefixText
    sharesByCode = router.sharesByCode == true
    onlySeen = router.source != .mqtt
    isNew = !router.isKnown && verdict == .match || router.resetFrom != nil
    if !says(.unknownRouter) {
      if let former = router.resetFrom {
        notes.append("probably \((former.name ?? former.agent.description).printable) before a reset")
      } else if isNew {
        notes.append("new here")
      }
    }
    self.isGone = isGone
    fault = alerts.first?.severity
  }
}

extension PageState.Alert {
  init(_ state: AlertState, preferredSince: WireTime? = nil) {
    id = state.fingerprint
    home = state.home
    router = state.alert.facts.router?.description
    name = state.key.name.word.description
    severity = state.severity.word.description
    summary = state.headline.printable
    remedy = state.remedy.printable
    since = state.startsAt.description
    buttons = Self.buttons(state, preferredSince)
  }

  /// What the remedy of each says to press, in its order.
  private static func buttons(_ state: AlertState, _ preferredSince: WireTime?) -> [PageState.Button] {
    let (facts, home) = (state.alert.facts, state.home)
    func router(_ label: String, _ path: String) -> PageState.Button? {
      facts.router.map {
        PageState.Button(
          label: label, about: PageState.Button.name(facts.routerName, "\($0)"), path: path,
          with: .init(home: home, borderAgentId: "\($0)"))
      }
    }
    func network(_ label: String, _ path: String, _ network: AlertFacts.Named?) -> PageState.Button? {
      network.map {
        PageState.Button(
          label: label, about: PageState.Button.name($0.name, "\($0.id)"), path: path,
          with: .init(home: home, extPanId: "\($0.id)"))
      }
    }
    func accept(_ label: String, _ place: AlertFacts.Named?) -> PageState.Button? {
      network(label, "/networks/accept", place)
    }
    let prefer = network("Prefer", "/networks/prefer", facts.network)
    let forget = router("Forget", "/routers/forget")
    let all: [PageState.Button?] =
      switch facts.message {
      case .neverMember: [accept("It's fine there", facts.network)]
      // While it is to be given the preferred credentials, its remedy is another one.
      case .otherNetwork:
        [nil, .due].contains(facts.adoption) ? [accept("It's fine there", facts.network), prefer] : []
      case .ghostNetwork: [accept("Keep it", facts.network)]
      case .noPreferred(_, let networks, _):
        (networks + (networks.isEmpty || facts.user == nil ? [] : [facts.network].compactMap(\.self))).map {
          network("Prefer \($0.shown)", "/networks/prefer", $0)
        }
      case .otherPreferred, .movedTo: [prefer]
      case .preferredEmpty: [prefer, accept("They're fine there", facts.network)]
      case .keysDisputed:
        [
          preferredSince.map {
            .init(
              label: "Keep the current keys", about: "the preferred network of \(home)", path: "/networks/keep",
              with: .init(home: home, id: "\($0)"))
          }
        ]
      case .joined, .wasReset: [router("Accept", "/routers/accept")]
      case .offline where facts.adoption == .agreed: []
      case .notSeen, .recordGone, .silentWithoutNetwork, .offline(nil), .offline(.silent), .offline(.unreachable):
        [forget]
      case .reportsDiffer: [router("Read now", "/routers/read")]
      case .adoptionFailed(let state, _) where state.canBeAskedAgain:
        [state == .denied ? accept("It's fine there", facts.acceptable) : nil, router("Ask again", "/consent/ask")]
      case .daemon where state.key.name == .testAlert:
        [.init(label: "It arrived", about: home, path: "/alerts/confirm", with: .init(home: home))]
      // What they say to do is done in an app, at the router, or in a terminal. Each is named: none is forgotten.
      case .elsewhere, .notAttached, .otherCredentials, .behind, .reportsOlder, .sameAge, .reportsConflict, .noDataset,
        .offline, .lostNetwork, .agentSilent, .awayTogether, .detached, .notAdvertised, .wellKnownKey, .openForCode,
        .adoptionFailed, .plaintext, .networkChanges, .preferredChanged, .split, .sharedPartial, .sharedOlder,
        .sharedConflict, .ghostAgent, .agentNotWorking, .matterServerDiffers, .daemon:
        []
      }
    return all.compactMap(\.self)
  }

  /// The worst first; of the same severity what is about more than one router, and then what began first.
  var order: (Int, Int, String) {
    (AlertSeverity(word: severity).map { Int($0.rawValue) } ?? .max, router == nil ? 0 : 1, since)
  }
}

extension PageState.Button {
  fileprivate static func name(_ name: String?, _ id: String) -> String {
    let name = (name ?? "").printable
    return name.isEmpty || name == id ? id : "\(name) (\(id))"
  }
}

extension PageState.Consent {
  /// - Parameters:
  ///   - home: named where there are several.
  ///   - isAlike: whether another network looks so named.
  init(_ question: ConsentQuestion, home: String?, isAlike: (ConsentNetwork) -> Bool) {
    id = question.id.questionText
    requester = question.requester.shown.printable
    fingerprint = question.requester.fingerprint
    router = question.subject.router?.shown.printable
    reason = question.reason(home: home).printable
    networks = question.subject.networks.map { $0.name.text.printable + (isAlike($0) ? " (\($0.id))" : "") }
    offers = question.subject.command == .accept
    switch question.subject.command {
    case .deleteThere: change = "Delete it there"
    case .agentThere: change = "Prefer it there"
    default: break
    }
    expires = question.expiresAt.description
  }
}

extension PageState.Event {
  init(_ event: RecentEvents.Event) {
    at = event.at.description
    severity = event.severity
    text = event.sentence.printable
  }
}
