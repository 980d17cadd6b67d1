import Broker
import DaemonTestKit
import Home
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import StatusPage
@testable import Threadkeeper

@Suite("The buttons of alerts on the status page") struct AlertButtonTests {
  private static let home = AlertFacts.Named(ExtendedPANID(number: 1), "home")
  private static let attic = AlertFacts.Named(ExtendedPANID(number: 2), "attic")
  private static let change = PreferredChange(
    from: attic, to: home, differs: [.networkKey], bringsCredentials: false, cause: .onlyMember, who: "\"Bob\"",
    second: nil, formerID: 0x1234_ABCD)

  /// The next kind of alert, so that a new one does not compile before it has its place here.
  private static func following(_ message: AlertFacts.Message) -> AlertFacts.Message? {
    switch message {
    case .elsewhere: .notAttached
    case .notAttached: .neverMember
    case .neverMember: .otherNetwork
    case .otherNetwork: .otherCredentials
    case .otherCredentials: .behind
    case .behind: .reportsOlder
    case .reportsOlder: .sameAge
    case .sameAge: .reportsConflict
    case .reportsConflict: .noDataset
    case .noDataset: .offline(nil)
    case .offline: .lostNetwork(isLast: false)
    case .lostNetwork: .silentWithoutNetwork
    case .silentWithoutNetwork: .notSeen(isStopped: false)
    case .notSeen: .agentSilent(.silent)
    case .agentSilent: .recordGone
    case .recordGone: .awayTogether(routers: 2, of: 3)
    case .awayTogether: .detached
    case .detached: .notAdvertised
    case .notAdvertised: .wellKnownKey
    case .wellKnownKey: .joined
    case .joined: .wasReset(isOnPreferred: true)
    case .wasReset: .reportsDiffer
    case .reportsDiffer: .openForCode
    case .openForCode: .adoptionFailed(.denied, isConfiguredForPreferred: false)
    case .adoptionFailed: .noPreferred(isForgotten: false, networks: [home, attic], more: 1)
    case .noPreferred: .plaintext
    case .plaintext: .networkChanges(channel: 25, name: nil)
    case .networkChanges: .keysDisputed(claimed: 2, current: 1, departed: .init(), hasDamage: false)
    case .keysDisputed: .preferredChanged(change, disagrees: false)
    case .preferredChanged: .movedTo(routers: 2, of: 3, lost: 0)
    case .movedTo: .preferredEmpty(routers: 1, elsewhere: 0)
    case .preferredEmpty: .split([.init(["\"A\""]), .init(["\"B\""])], parts: 2)
    case .split: .otherPreferred
    case .otherPreferred: .sharedPartial
    case .sharedPartial: .sharedOlder
    case .sharedOlder: .sharedConflict
    case .sharedConflict: .ghostNetwork(isAsked: true)
    case .ghostNetwork: .ghostAgent(isAsked: true)
    case .ghostAgent: .agentNotWorking("no token")
    case .agentNotWorking: .matterServerDiffers("it lacks it")
    case .matterServerDiffers: .daemon
    case .daemon: nil
    }
  }

  /// Each kind, and of those that have several remedies each of these.
  private static let messages: [AlertFacts.Message] =
    Array(sequence(first: .elsewhere(isConfiguredForPreferred: true), next: following)) + [
      .elsewhere(isConfiguredForPreferred: false), .lostNetwork(isLast: true), .notSeen(isStopped: true),
    ] + OfflineReason.allCases.map { .offline($0) } + [
      .wasReset(isOnPreferred: false), .noPreferred(isForgotten: true, networks: [], more: 0),
      .noPreferred(isForgotten: false, networks: [], more: 0), .ghostNetwork(isAsked: false),
      .ghostAgent(isAsked: false), .agentNotWorking(nil),
    ]
    + AdoptionState.allCases.filter(\.hasFailed).flatMap { state in
      [true, false].map { .adoptionFailed(state, isConfiguredForPreferred: $0) }
    }

  /// By the path of what the page can do: how a terminal does it. Nil: an alert that names its command means something
  /// else, which the page cannot do.
  private static let commands: [String: String?] = [
    "/alerts/confirm": "alerts confirm", "/alerts/test": "alerts test", "/consent/approve": "consent approve",
    "/consent/ask": "consent ask", "/consent/deny": "consent deny", "/keys/confirm": "keys add",
    "/keys/recovery-code": "keys add", "/networks/accept": "networks accept ", "/networks/forget": "preferred forget",
    "/networks/join": "networks join", "/networks/keep": nil, "/networks/prefer": "preferred set \(attic.id)`",
    "/networks/share": "networks share", "/routers/accept": "routers accept", "/routers/forget": "routers remove",
    "/routers/read": "routers read", "/routers/rename": "routers rename",
  ]

  private static func shown(
    _ facts: AlertFacts, as name: AlertName = .sessionLost, adoption: AdoptionState? = nil, isElsewhere: Bool = false
  ) -> PageState.Alert {
    var facts = facts
    if facts.message != .daemon {
      (facts.router, facts.routerName, facts.user) = (BorderAgentID(high: 7, low: 0), "Bob", "otbr")
      (facts.network, facts.preferred, facts.adoption) = (attic, home, adoption)
      if isElsewhere { facts.configured = home }
      facts.names = .init(["home_assistant http://ha:8123"])
    }
    let now = WireTime(milliseconds: 0)
    let alert = Alert(shown: facts, since: now, updatedAt: now, endsAt: nil, sequence: 1)
    let state = AlertState(AlertKey(name), alert, in: "home", ways: .page(isOnlyHome: true))
    return PageState.Alert(state, preferredSince: now)
  }

  /// The rule, of one.
  private func check(_ alert: PageState.Alert) throws {
    let pressed = alert.remedy.matches(of: #/[Pp]ress "([^"]+)"/#).map { String($0.output.1) }
    for label in pressed {
      #expect(alert.buttons.contains { $0.label.hasPrefix(label) }, "no button \(label): \(alert.remedy)")
    }
    for button in alert.buttons {
      #expect(pressed.contains { button.label.hasPrefix($0) }, "\(button.label) is not named: \(alert.remedy)")
      #expect(PageChange(path: button.path, body: Array(try JSONText.line(button.with).utf8)) != nil)
    }
    for case let command? in Self.commands.values {
      #expect(!alert.remedy.contains("`threadkeeper \(command)"), "the page can do that: \(alert.remedy)")
    }
    #expect(!alert.remedy.contains("`threadkeeper consent list"), "\(alert.remedy)")
    for name in AlertName.allCases {
      #expect(!(alert.summary + alert.remedy).contains(name.word.description), "a name for programs: \(alert.remedy)")
    }
  }

  @Test("What a remedy says to press is there, nothing else is, and no command stands for what the page can do")
  func rule() throws {
    #expect(Set(Self.commands.keys) == Set(PageChange.routes.keys), "each change has its command")
    for message in Self.messages {
      for adoption in [nil] + AdoptionState.allCases.map({ $0 }) as [AdoptionState?] {
        for isElsewhere in [false, true] {
          try check(Self.shown(AlertFacts(message), adoption: adoption, isElsewhere: isElsewhere))
        }
      }
    }
    for (name, facts) in [
      (AlertName.sessionLost, AlertFacts.sessionLost), (.messagesDropped, .messagesDropped), (.testAlert, .test),
      (.sessionTakenOver, .sharedClientID), (.storeDamaged, .storeDamaged(records: 1)),
    ] { try check(Self.shown(facts, as: name)) }
  }

  @Test(
    "The buttons of each remedy, the first one first",
    arguments: [
      (.otherNetwork, ["It's fine there", "Prefer"], ["/networks/accept", "/networks/prefer"]),
      (.neverMember, ["It's fine there"], ["/networks/accept"]),
      (
        .preferredEmpty(routers: 1, elsewhere: 0), ["Prefer", "They're fine there"],
        ["/networks/prefer", "/networks/accept"]
      ), (.ghostNetwork(isAsked: true), ["Keep it"], ["/networks/accept"]),
      (.offline(.silent), ["Forget"], ["/routers/forget"]), (.offline(.frozen), [], []),
      (.notSeen(isStopped: true), ["Forget"], ["/routers/forget"]),
      (
        .adoptionFailed(.denied, isConfiguredForPreferred: false), ["It's fine there", "Ask again"],
        ["/networks/accept", "/consent/ask"]
      ), (.adoptionFailed(.expired, isConfiguredForPreferred: false), ["Ask again"], ["/consent/ask"]),
      (.adoptionFailed(.notEnrolled, isConfiguredForPreferred: false), [], []),
      (
        .keysDisputed(claimed: 2, current: 1, departed: .init(), hasDamage: false), ["Keep the current keys"],
        ["/networks/keep"]
      ), (.joined, ["Accept"], ["/routers/accept"]), (.reportsDiffer, ["Read now"], ["/routers/read"]),
      (
        .noPreferred(isForgotten: false, networks: [home], more: 0), ["Prefer \"home\"", "Prefer \"attic\""],
        ["/networks/prefer", "/networks/prefer"]
      ),
    ] as [(AlertFacts.Message, [String], [String])]) func buttons(
      message: AlertFacts.Message, labels: [String], paths: [String]
    )
  {
    let buttons = Self.shown(AlertFacts(message)).buttons
    #expect(buttons.map(\.label) == labels && buttons.map(\.path) == paths)
  }

  @Test("A mismatch can be accepted where it is, unless the router is to be given the preferred credentials")
  func mismatch() throws {
    let mismatch = AlertFacts(.otherNetwork)
    let buttons = Self.shown(mismatch).buttons
    #expect(buttons.allSatisfy { $0.with.extPanId == "0000000000000002" && $0.with.home == "home" })
    #expect(Self.shown(mismatch, adoption: .asked).buttons.isEmpty)
    #expect(Self.shown(AlertFacts(.elsewhere(isConfiguredForPreferred: true)), isElsewhere: true).buttons.isEmpty)
  }

  @Test("No network is offered to be accepted for a router that is on none, or on another one than it should be")
  func nowhere() throws {
    var denied = AlertFacts(.adoptionFailed(.denied, isConfiguredForPreferred: false))
    denied.hasNoNetwork = true
    let lost = Self.shown(denied)
    try check(lost)
    #expect(lost.buttons.map(\.label) == ["Ask again"])
    denied.hasNoNetwork = false
    #expect(Self.shown(denied, isElsewhere: true).buttons.map(\.label) == ["Ask again"])
    #expect(Self.shown(denied).buttons.map(\.label) == ["It's fine there", "Ask again"])
  }

  @Test("The test alert has the button that says it arrived") func test() {
    let alert = Self.shown(.test, as: .testAlert)
    #expect(alert.buttons.map(\.label) == ["It arrived"] && alert.buttons.first?.path == "/alerts/confirm")
    #expect(alert.buttons.first?.with == .init(home: "home") && !alert.remedy.contains("`"))
    let other = Self.shown(.test, as: .sessionLost)
    #expect(
      other.buttons.isEmpty && other.remedy.contains("`threadkeeper alerts confirm`"), "by its name, not its words")
  }
}
