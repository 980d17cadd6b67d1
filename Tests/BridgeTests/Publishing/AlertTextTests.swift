import Settings
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("Sentences of alerts") struct AlertTextTests {
  private static let preferred = AlertFacts.Named(ExtendedPANID(number: 1), "home")
  private static let other = AlertFacts.Named(ExtendedPANID(number: 2), "attic")

  static func facts(_ message: AlertFacts.Message, _ change: (inout AlertFacts) -> Void = { _ in }) -> AlertFacts {
    var facts = AlertFacts(message)
    facts.router = .number(7)
    facts.routerName = "Bob"
    facts.network = other
    facts.preferred = preferred
    change(&facts)
    return facts
  }

  private static let change = PreferredChange(
    from: preferred, to: other, differs: [.extendedPANID, .networkKey], bringsCredentials: false, cause: .onlyMember,
    who: "\"Bob\"", second: nil, formerID: 0x1234_ABCD)

  private static func with(
    from: AlertFacts.Named = other, differs: DatasetDifferences = [.channel, .panID], brings: Bool = false,
    _ cause: PreferredCause, who: String? = "\"Bob\"", formerID: UInt32? = nil, user: ExactName? = nil
  ) -> AlertFacts {
    facts(
      .preferredChanged(
        PreferredChange(
          from: from, to: other, differs: differs, bringsCredentials: brings, cause: cause, who: who, second: "\"Eve\"",
          formerID: formerID, fromRadio: .init(channel: 11, panID: 0x1234), toRadio: .init(channel: 20, panID: 0xABCD)),
        disagrees: false)
    ) { $0.user = user }
  }

  private static func quoted(_ names: String...) -> [String] { names.map { "\"\($0)\"" } }

  private static func shared(
    _ message: AlertFacts.Message, name: String? = "Home Assistant", differs: DatasetDifferences? = nil
  ) -> AlertFacts {
    facts(message) {
      ($0.router, $0.routerName, $0.user) = (nil, nil, "ha")
      $0.names = .init([name.map { "\"\($0)\"" }].compactMap(\.self))
      $0.differs = differs
      switch message {
      case .sharedPartial: $0.otherNames = .init(lacking: [.networkName, .pskc])
      case .ghostNetwork: $0.since = WireTime(milliseconds: 0)
      case .ghostAgent:
        ($0.router, $0.since, $0.otherNames) = (.number(7), WireTime(milliseconds: 0), .init(["\"Hall\""]))
      default: break
      }
    }
  }

  /// A program of a login that does not do its work.
  private static func agent(_ trouble: String?, others: [String] = [], _ change: (inout AlertFacts) -> Void = { _ in })
    -> AlertFacts
  {
    facts(.agentNotWorking(trouble)) {
      ($0.router, $0.routerName, $0.user) = (nil, nil, "ha")
      $0.names = .init(["home_assistant http://homeassistant.local:8123"] + others)
      $0.since = WireTime(milliseconds: 0)
      change(&$0)
    }
  }

  private static func matter(others: [String], _ change: (inout AlertFacts) -> Void = { _ in }) -> AlertFacts {
    agent(nil) {
      $0.message = .matterServerDiffers("it lacks it")
      $0.names = .init(["matter_server ws://127.0.0.1:5580"] + others)
      change(&$0)
    }
  }

  static let summaries: [(AlertFacts, String)] = [
    (facts(.otherNetwork), #""Bob" is on "attic", not on the preferred network "home""#),
    (facts(.otherCredentials), #""Bob" has other credentials for the preferred network "home""#),
    (
      facts(.otherNetwork) {
        $0.routerNeedsID = true
        $0.network = .init(ExtendedPANID(number: 2), "home")
        $0.network?.needsID = true
        $0.preferred?.needsID = true
      },
      #""Bob" (0000000000000007) is on "home" (0000000000000002), not on the preferred network "home" "#
        + "(0000000000000001)"
    ), (facts(.otherNetwork) { $0.adoption = .agreed }, #""Bob" is being moved to "home""#),
    (facts(.offline(.stopped)) { $0.adoption = .agreed }, #""Bob" is being moved to "home""#),
    (facts(.detached) { $0.adoption = .agreed }, #""Bob" is being moved to "home""#),
    (
      with(from: .init(ExtendedPANID(number: 2), "old"), differs: [.networkName, .securityPolicy], .sameKeys),
      #"the preferred network "attic" has other parameters (network_name from "old" to "attic", "#
        + #"security_policy): "Bob" reports them"#
    ),
    (
      facts(.elsewhere(isConfiguredForPreferred: false)) { $0.configured = .init(ExtendedPANID(number: 3), "cellar") },
      #""Bob" is on "attic" (0000000000000002) and configured for "cellar"; the preferred network is "home""#
    ),
    (
      facts(.elsewhere(isConfiguredForPreferred: true)) {
        $0.configured = preferred
        $0.network = .init(ExtendedPANID(number: 2), nil)
      }, #""Bob" is on network 0000000000000002 and configured for "home""#
    ),
    (
      facts(.neverMember) { $0.routerName = nil },
      #"0000000000000007 is on "attic", and has never been on the preferred network "home""#
    ),
    (
      facts(.offline(.silent)) { $0.since = WireTime(milliseconds: 0) },
      #""Bob" has sent no heartbeat since 1970-01-01T00:00:00Z"#
    ), (facts(.offline(.noNetwork)), #""Bob" has no Thread network yet"#),
    (
      facts(.lostNetwork(isLast: true)),
      #""Bob" has lost its Thread network; "attic" has no border router any more: its devices reach nothing now"#
    ),
    (
      facts(.lostNetwork(isLast: false)),
      #""Bob" has lost its Thread network "attic", on which other border routers are"#
    ),
    (
      facts(.silentWithoutNetwork) { $0.since = WireTime(milliseconds: 0) },
      #""Bob" has sent nothing since 1970-01-01T00:00:00Z; it had lost its Thread network "attic""#
    ),
    (
      facts(.silentWithoutNetwork) {
        $0.since = WireTime(milliseconds: 0)
        $0.network = nil
      }, #""Bob" has sent nothing since 1970-01-01T00:00:00Z; it had no Thread network yet"#
    ),
    (
      facts(.preferredEmpty(routers: 2, elsewhere: 1)),
      #"no border router is on the preferred network "home"; 2 are on "attic", 1 on others"#
    ),
    (
      facts(.preferredEmpty(routers: 1, elsewhere: 0)) {
        $0.network = .init(ExtendedPANID(number: 6), "home")
        $0.network?.needsID = true
        $0.preferred?.needsID = true
      },
      #"no border router is on the preferred network "home" (0000000000000001); 1 is on "home" "# + "(0000000000000006)"
    ),
    (
      facts(.noPreferred(isForgotten: false, networks: [preferred], more: 0)) { $0.user = "ha" },
      #"no network is preferred, so no router can be checked; no border router is on "attic", which login ha "#
        + #"prefers; they are on "home""#
    ),
    (
      facts(.agentSilent(.silent)) { $0.since = WireTime(milliseconds: 0) },
      #""Bob" is on the local network, and its agent is silent: no heartbeat since 1970-01-01T00:00:00Z"#
    ),
    (
      facts(.awayTogether(routers: 4, of: 5)) {
        ($0.since, $0.names) = (WireTime(milliseconds: 0), .init(quoted("A", "B", "C", "D")))
      }, "4 of 5 border routers went away together since 1970-01-01T00:00:00Z: " + #""A", "B", "C" and 1 more"#
    ),
    (
      facts(.awayTogether(routers: 2, of: 2)) {
        ($0.since, $0.names) = (WireTime(milliseconds: 0), .init(quoted("A", "B")))
      },
      "none of your 2 border routers can be seen since 1970-01-01T00:00:00Z: power cut, Wi-Fi, or this machine's network?"
    ),
    (
      facts(.detached) { $0.since = WireTime(milliseconds: 0) },
      #""Bob" has Thread detached since 1970-01-01T00:00:00Z: it is not connected to "attic""#
    ), (facts(.wellKnownKey), #""attic" uses a network key that is printed in public documentation"#),
    (
      facts(.noPreferred(isForgotten: true, networks: [preferred, other], more: 1)),
      "no network is preferred, because a person has forgotten the last one; border routers are on "
        + #"3 networks: "home", "attic" and 1 more"#
    ),
    (
      facts(.keysDisputed(claimed: 9, current: 5, departed: .init(["\"Dan\""]), hasDamage: true)) {
        $0.names = .init([#""Bob""#, "0000000000000008"])
        $0.otherNames = .init(quoted("A", "B", "C", "D"))
      },
      #""Bob" and 0000000000000008 report other keys of "home" (timestamp 9) than the preferred network "#
        + #"has (timestamp 5), which "A", "B", "C" and 1 more use; "Dan" had the current ones less "#
        + "than 30 days ago; some stored credentials are damaged, so their keys are not known"
    ),
    (
      facts(.preferredChanged(change, disagrees: true)) { $0.names = .init(quoted("Ann")) },
      #""attic" is the preferred network now, instead of "home": "Bob", its only border router, reports "#
        + #"them, and nobody else confirms them, and "Ann" has others"#
    ),
    (
      with(.sameKeys),
      #"the preferred network "attic" has other parameters (pan_id from 0x1234 to 0xabcd, channel from "#
        + #"11 to 20): "Bob" reports them"#
    ),
    (
      with(differs: .pskc, .confirmed(by: .number(1))),
      #"the preferred network "attic" has new keys: "Bob" and "Eve" report them"#
    ),
    (
      with(brings: true, .person, who: "uid 0 (command line)"),
      #"the credentials of the preferred network "attic" are here now: a person has chosen it "#
        + "(uid 0 (command line))"
    ),
    (
      facts(.movedTo(routers: 3, of: 3, lost: 0)) {
        ($0.names, $0.otherNames) = (.init(quoted("A", "B", "C")), .init(["otbr"]))
      },
      #"all 3 border routers of the preferred network "home" are on "attic" now: "A", "B" and "C", as "#
        + "login otbr reports"
    ),
    (
      facts(.wasReset(isOnPreferred: true)) { $0.names = .init(quoted("Attic")) },
      #""Attic" was probably reset: it is now "Bob""#
    ),
    (
      facts(.movedTo(routers: 2, of: 3, lost: 0)) { $0.names = .init(quoted("A", "B")) },
      #"2 of 3 border routers of the preferred network "home" are on "attic" now: "A" and "B"; the other is not"#
    ),
    (
      facts(.movedTo(routers: 4, of: 7, lost: 1)),
      #"4 of 7 border routers of the preferred network "home" are on "attic" now; the others are not, "#
        + "and 1 of them cannot be reached"
    ),
    (
      facts(.movedTo(routers: 2, of: 4, lost: 2)) {
        $0.network = .init(ExtendedPANID(number: 6), "home")
        $0.network?.needsID = true
        $0.preferred?.needsID = true
        ($0.names, $0.otherNames) = (.init(quoted("A", "B")), .init(["hub", "\"-x\""]))
      },
      #"2 of 4 border routers of the preferred network "home" (0000000000000001) are on "home" "#
        + #"(0000000000000006) now: "A" and "B", as logins hub and "-x" report; the others cannot be reached"#
    ),
    (
      facts(.split([.init(quoted("A")), .init(first: quoted("B", "C", "D"), count: 5)], parts: 2)),
      #""attic" is split into 2 parts that do not reach each other by radio: "A" | "B", "C", "D" and 2 more"#
    ),
    (
      facts(.split([.init(quoted("A")), .init(quoted("B"))], parts: 2)) { $0.otherNames = .init(quoted("B")) },
      #""attic" is split into 2 parts that do not reach each other by radio: "A" | "B"; nobody has accepted "#
        + #""B", so it may have another key"#
    ), (facts(.plaintext) { $0.user = "a b" }, #""a b" sends network keys unsealed through the broker"#),
    (
      shared(.otherPreferred),
      #""Home Assistant" (login ha) prefers network "attic" (0000000000000002), this home prefers "home" "#
        + "(0000000000000001)"
    ),
    (
      shared(.otherPreferred, name: nil),
      #"login ha prefers network "attic" (0000000000000002), this home prefers "home" (0000000000000001)"#
    ), (shared(.sharedOlder), #""Home Assistant" (login ha) has an older dataset of the preferred network "home""#),
    (
      shared(.ghostNetwork(isAsked: true)),
      #""Home Assistant" (login ha) still has network "attic" (0000000000000002), on which no border router has "#
        + "been seen since 1970-01-01T00:00:00Z"
    ),
    (
      shared(.ghostAgent(isAsked: false)),
      #""Home Assistant" (login ha) prefers border router 0000000000000007 of "attic", which has not been seen "#
        + #"there since 1970-01-01T00:00:00Z; "Hall" is"#
    ),
    (
      shared(.sharedConflict, differs: [.networkKey, .pskc]),
      #""Home Assistant" (login ha) has a dataset of the preferred network "home" that is not used: it "#
        + "differs (network_key, pskc) from the preferred one of the same age, or its timestamp is more than a "
        + "year ahead"
    ),
    (
      shared(.sharedConflict),
      #""Home Assistant" (login ha) has a dataset of the preferred network "home" that is not used: its "#
        + "timestamp is more than a year ahead"
    ),
    (
      shared(.sharedPartial),
      #""Home Assistant" (login ha) has a dataset of "attic" that is not complete: Network Name and PSKc are "#
        + "missing"
    ),
    (
      facts(.noDataset) { $0.otherNames = .init(lacking: [.pskc]) },
      #""Bob" has a dataset that is not complete: PSKc is missing"#
    ),
    (
      facts(.sameAge) { $0.differs = .meshLocalPrefix },
      #""Bob" and the preferred network "home" have datasets of the same age that differ (mesh_local_prefix)"#
    ),
    (
      facts(.reportsConflict) { $0.differs = .channel },
      #""Bob" reported a dataset of "attic" that is not taken: it differs (channel) from the stored one of the "#
        + "same age, or its timestamp is more than a year ahead"
    ),
    (
      facts(.reportsDiffer) {
        $0.user = "otbr"
        $0.differs = [.channel, .networkKey]
      }, #""Bob" has itself another dataset than login otbr reports for it (network_key, channel)"#
    ),
    (
      facts(.networkChanges(channel: 25, name: nil)) {
        $0.differs = .channel
        $0.since = WireTime(milliseconds: 58_000)
      }, #""attic" moves to channel 25 at 1970-01-01T00:00:58Z"#
    ),
    (
      facts(.networkChanges(channel: 25, name: "cellar")) {
        $0.differs = [.channel, .networkName, .networkKey]
        $0.since = WireTime(milliseconds: 58_000)
      }, #""attic" changes at 1970-01-01T00:00:58Z: channel to 25, name to "cellar", network_key"#
    ), (facts(.notAdvertised), #""Bob" works, but is not advertised on the local network: phones will not find it"#),
    (facts(.offline(.failing)) { $0.httpStatus = 500 }, #""Bob" answers its agent with an error: HTTP status 500"#),
    (facts(.offline(.failing)), #""Bob" answers its agent, but not as the REST interface of a border router does"#),
    (
      agent("it does not accept the token; make one"),
      #"The agent "home_assistant http://homeassistant.local:8123" of login ha cannot do its work: "it does "#
        + #"not accept the token; make one"; it worked last at 1970-01-01T00:00:00Z"#
    ),
    (
      agent(nil, others: ["ssid"]) { $0.since = nil },
      #"The agent "home_assistant http://homeassistant.local:8123" of login ha has reported nothing for three "#
        + "minutes; it has never worked; 1 more of this login cannot either"
    ),
    (
      matter(others: []),
      #"The Matter server "ws://127.0.0.1:5580" of login ha is not known to have the preferred network of this "#
        + #"home: "it lacks it"; it had it last at 1970-01-01T00:00:00Z"#
    ),
    (
      matter(others: ["matter_server ws://other"]) { $0.since = nil },
      #"The Matter server "ws://127.0.0.1:5580" of login ha is not known to have the preferred network of this "#
        + #"home: "it lacks it"; it has never been given it; the same of 1 more of this login"#
    ),
    (
      with(.sameKeys, who: "ha", user: "ha"),
      #"the preferred network "attic" has other parameters (pan_id from 0x1234 to 0xabcd, channel from "#
        + "11 to 20): login ha shares them"
    ),
    (
      with(brings: true, .shared, who: "a b", user: "a b"),
      #"the credentials of the preferred network "attic" are here now: login "a b", which "#
        + "`home_assistant.trusted` names, shares them"
    ), (.sessionTakenOver("another client"), "another client"),
    (.brokerAuthenticationFailed("not authorised", remedy: "Log in."), "not authorised"),
  ]

  @Test("The summary names the router, its network and the preferred one", arguments: summaries) func summary(
    facts: AlertFacts, summary: String
  ) { #expect(AlertText(facts, homeOption: "").summary == summary) }

  static let remedies: [(AlertFacts, String)] = [
    (facts(.neverMember), "networks accept 0000000000000002 --home h`"),
    (
      facts(.otherNetwork),
      "stay on \"attic\", run `threadkeeper networks accept 0000000000000002 --home h`. If all should be there, run "
        + "`threadkeeper preferred set 0000000000000002 --home h`."
    ), (facts(.offline(.silent)), "gone for good, run `threadkeeper routers remove 0000000000000007 --home h`."),
    (
      facts(.adoptionFailed(.denied, isConfiguredForPreferred: false)),
      "should be on \"attic\", run `threadkeeper networks accept 0000000000000002 --home h`; else give"
    ),
    (
      facts(.adoptionFailed(.denied, isConfiguredForPreferred: false)) { $0.configured = other },
      "should be on \"attic\" (0000000000000002), leave it there; else give"
    ),
    (
      facts(.adoptionFailed(.denied, isConfiguredForPreferred: false)) { $0.hasNoNetwork = true },
      "If \"Bob\" should be on \"home\", give \"Bob\" the credentials of \"home\" in"
    ), (facts(.openForCode), "restart \"Bob\", which ends it"),
    (facts(.reportsDiffer), "threadkeeper routers read 0000000000000007`"),
    (
      facts(.neverMember) { $0.network = .init(ExtendedPANID(number: 2), "home") },
      "Find out whose network this is: it has the name of yours, and its devices are not on yours. If"
    ), (facts(.joined), "routers accept 0000000000000007 --home h`"),
    (facts(.wasReset(isOnPreferred: false)), "routers accept 0000000000000007 --home h`: it keeps its name"),
    (facts(.notSeen(isStopped: true)), "routers remove 0000000000000007 --home h`"),
    (
      facts(.lostNetwork(isLast: true)),
      "`threadkeeper credentials get 0000000000000007 --show-secrets --home h` shows what it had"
    ), (facts(.lostNetwork(isLast: true)) { $0.adoption = .asked }, "`threadkeeper consent list`"),
    (
      facts(.preferredEmpty(routers: 2, elsewhere: 0)),
      #"If "attic" is your network, run `threadkeeper preferred set 0000000000000002 --home h`. If "home" is"#
    ),
    (
      facts(.noPreferred(isForgotten: false, networks: [preferred], more: 0)) { $0.user = "ha" },
      #"`threadkeeper preferred set 0000000000000001 --home h` for "home", `threadkeeper preferred set "#
        + #"0000000000000002 --home h` for "attic"."#
    ), (facts(.movedTo(routers: 3, of: 4, lost: 1)), "preferred set 0000000000000002 --home h`"),
    (
      facts(.keysDisputed(claimed: 9, current: 5, departed: .init(), hasDamage: false)),
      "preferred set 0000000000000001 --router 0000000000000007 --home h`"
    ),
    (
      facts(.keysDisputed(claimed: 9, current: 5, departed: .init(), hasDamage: false)),
      "To keep the current keys, run `threadkeeper preferred set p-current --home h`; then give"
    ), (facts(.preferredChanged(change, disagrees: false)), "preferred set p-1234abcd --home h`"),
    (
      facts(.preferredChanged(change, disagrees: false)),
      "confirm them with `threadkeeper preferred set p-current --home h`; until then"
    ),
    (
      facts(.adoptionFailed(.expired, isConfiguredForPreferred: false)),
      "consent ask 0000000000000007 --home h`. Then decide with `threadkeeper consent list` within 120"
    ),
    (
      facts(.adoptionFailed(.notEnrolled, isConfiguredForPreferred: false)) { $0.user = "a b" },
      "clients enroll LOGIN LINE`"
    ),
    (
      facts(.adoptionFailed(.notEnrolled, isConfiguredForPreferred: false)) { $0.user = "-f" },
      "clients enroll LOGIN LINE`"
    ),
    (
      facts(.noPreferred(isForgotten: false, networks: [other], more: 0)),
      "preferred set 0000000000000002 --home h` for \"attic\"."
    ), (shared(.otherPreferred), "here, too, run `threadkeeper preferred set 0000000000000002 --home h`. To use"),
    (shared(.otherPreferred), #"in the settings of "Home Assistant" (Thread), or start its agent with `--write`"#),
    (
      shared(.ghostNetwork(isAsked: false)),
      #"Delete it in the settings of "Home Assistant" (Thread), or start its agent with `--write`, which does so once "#
        + "you have agreed. To keep it, run `threadkeeper networks accept 0000000000000002 --home h`."
    ), (shared(.ghostNetwork(isAsked: true)), "Decide the request that waits, on the status page or by"),
    (shared(.ghostAgent(isAsked: false)), #"Prefer "Hall" in the settings of "Home Assistant" (Thread), or start"#),
    (shared(.ghostAgent(isAsked: true)), "Decide the request that waits"),
    (shared(.sharedOlder), #"Add the current credentials to "Home Assistant": send them from a phone"#),
    (shared(.sharedConflict), "`threadkeeper networks accept-credentials 0000000000000001 --home h`. If not, delete"),
    (
      shared(.sharedConflict),
      #"in the settings of "Home Assistant" (Thread; make another one preferred there first), and send"#
    ),
    (
      shared(.otherPreferred),
      #"If "Home Assistant" is gone, or does not have this network any more, run `threadkeeper networks "#
        + "forget 0000000000000002 --home h`."
    ), (shared(.sharedOlder), "networks forget 0000000000000001 --home h`."),
    (agent(nil), "Check that it runs, that its machine is on"),
    (agent("no token"), "run `threadkeeper clients revoke ha --forget --home h`."),
    (matter(others: []), "run `threadkeeper clients revoke ha --forget --home h`."),
    (
      shared(.sharedConflict, name: nil),
      "If login ha is gone, or does not have this network any more, run `threadkeeper networks forget "
        + "0000000000000001 --home h`."
    ), (facts(.otherNetwork) { $0.adoption = .asked }, "`threadkeeper consent list` shows the question."),
    (
      facts(.elsewhere(isConfiguredForPreferred: true)) { $0.adoption = .agreed },
      "A person has agreed: while it is online, "
    ),
    (
      facts(.elsewhere(isConfiguredForPreferred: false)),
      "(`sudo ot-ctl dataset clear`, then `sudo ot-ctl dataset commit pending`), give it the credentials of "
    ), (facts(.offline(.stopped)), "`sudo ot-ctl ifconfig up`, then `sudo ot-ctl thread start`, or"),
    (facts(.behind), "give it the current dataset while Thread is disabled there"),
    (facts(.sameAge), "While Thread is disabled on \"Bob\", give it that of \"home\";"),
    (facts(.split([], parts: 2)), "Parts on the same channel join by themselves"),
    (with(.sameKeys, formerID: nil), "as a pending dataset, with a later active timestamp"),
  ]

  @Test("The remedy has the command, with its home where there are several", arguments: remedies) func remedy(
    facts: AlertFacts, part: String
  ) { #expect(AlertText(facts, homeOption: " --home h").remedy.contains(part)) }

  @Test(
    "A remedy names a button only where there is one",
    arguments: [
      (home: true, page: true, " in Home Assistant or on the status page"), (true, false, " in Home Assistant"),
      (false, true, " on the status page"), (false, false, nil),
    ]) func buttons(hasHome: Bool, hasPage: Bool, place: String?)
  {
    var settings = Settings(stateDirectory: "/s")
    (settings.homeAssistant.login, settings.http.isEnabled) = ("ha", hasPage)
    if !hasHome { settings.homeAssistant.consent = .off }
    let asked = Self.facts(.adoptionFailed(.denied, isConfiguredForPreferred: false))
    let disputed = Self.facts(.keysDisputed(claimed: 9, current: 5, departed: .init(), hasDamage: false))
    for (facts, button) in [(asked, "\"Ask again\""), (disputed, "\"Keep the current keys\"")] {
      let ways = RemedyWays(settings, isOnlyHome: true)
      let remedy = AlertText(facts, homeOption: "", ways: ways).remedy
      if let place { #expect(remedy.contains("press \(button)\(place)")) } else { #expect(!remedy.contains("press")) }
    }
    settings.homeAssistant.login = nil
    #expect(RemedyWays(settings, isOnlyHome: true).buttons == (hasPage ? ["on the status page"] : []))
  }

  @Test(
    "A remedy names the app of a known maker, and else says that it is the router's own",
    arguments: [
      ("Apple Inc.", "in Apple's Home app, if"), ("Apple", "in Apple's Home app, if"),
      ("Apple, Inc.", "in Apple's Home app, if"), ("Google Inc.", "in the Google Home app, if"),
      ("Google", "in the Google Home app, if"), ("google LLC", "in the Google Home app, if"),
      ("Amazon", "in the Alexa app, if"), ("Amazon.com, Inc.", "in the Alexa app, if"),
      ("Samsung", "in the SmartThings app, if"), ("Samsung Electronics", "in the SmartThings app, if"),
      ("SmartThings", "in the SmartThings app, if"), ("eero", "in its own app or page"),
      ("Googlers", "in its own app or page"), ("", "in its own app or page"), ("®", "in its own app or page"),
      (nil, "in its own app or page"),
    ]) func maker(vendor: String?, place: String)
  {
    for message in [
      .neverMember, .otherNetwork, .offline(.noNetwork), .notSeen(isStopped: true),
      .adoptionFailed(.denied, isConfiguredForPreferred: false),
    ] as [AlertFacts.Message] {
      let remedy = AlertText(Self.facts(message), homeOption: "", vendor: vendor).remedy
      #expect(remedy.contains(place), "\(remedy)")
    }
  }

  @Test("No way back is offered that changes no router: none from parameters with the same keys") func noWayBack() {
    for cause in [.sameKeys, .person] as [PreferredCause] {
      let text = AlertText(Self.with(cause, formerID: 7), homeOption: "")
      #expect(!text.remedy.contains("preferred set"), "\(text.remedy)")
    }
  }

  @Test("Home Assistant ignores a dataset of the same age: a conflict is not solved by `--write`") func sharedConflict()
  { #expect(!AlertText(Self.shared(.sharedConflict), homeOption: "").remedy.contains("--write")) }

  @Test("What helps against a refused login depends on where its password comes from") func refusedLogin() {
    let facts = AlertFacts.brokerAuthenticationFailed("not authorised", remedy: "Log in.")
    #expect(AlertText(facts, homeOption: "").remedy == "Log in.")
  }

  @Test("A name cannot end its quotes, nor be long") func names() {
    let facts = Self.facts(.noDataset) { $0.routerName = "x\" is fine \u{202E}" + String(repeating: "y", count: 100) }
    let summary = AlertText(facts, homeOption: "").summary
    #expect(summary.hasPrefix("\"x' is fine yyy"))
    #expect(summary.contains("y…yyyyyyyyyy\" announced itself without a dataset"))
  }

  @Test("Whatever routers and networks are called, the words around their names stay") func hostileNames() {
    func sentences(_ name: String, _ network: String) -> [[Substring]] {
      let facts = Self.facts(.otherNetwork) {
        $0.routerName = name
        $0.network = .init(ExtendedPANID(number: 2), network)
      }
      let text = AlertText(facts, homeOption: "")
      return [text.summary, text.remedy].map { $0.split(separator: "\"", omittingEmptySubsequences: false) }
    }
    func every(_ remainder: Int, _ parts: [Substring]) -> [Substring] {
      parts.indices.filter { $0 % 2 == remainder }.map { parts[$0] }
    }
    let harmless = sentences("Attic", "guest")
    for (name, network) in [
      (#"Attic" is fine. Run `rm -rf ~` as "root"#, #"a", not on "b"#), ("\u{201C}Attic\u{201D} is fine", "a\u{202E}b"),
      ("line\nbreak \u{1B}[2J \u{202E}drowssap\u{2028}x", "\u{201C}a\u{201D}"),
      (String(repeating: "long ", count: 25), "sixteen-bytes-16"),
    ] {
      for (parts, expected) in zip(sentences(name, network), harmless) {
        #expect(every(0, parts) == every(0, expected))
        for part in every(1, parts) { #expect(!part.isEmpty && part.unicodeScalars.count <= 32) }
        let isPlain = parts.joined().unicodeScalars.allSatisfy {
          ![.control, .format, .lineSeparator].contains($0.properties.generalCategory)
        }
        #expect(isPlain, "\(parts)")
      }
    }
  }

  @Test("Each failed adoption has both sentences", arguments: AdoptionState.allCases.filter(\.hasFailed)) func adoption(
    state: AdoptionState
  ) {
    for isConfigured in [true, false] {
      let text = AlertText(
        Self.facts(.adoptionFailed(state, isConfiguredForPreferred: isConfigured)) { $0.user = "otbr" }, homeOption: "")
      #expect(text.summary.contains("\"Bob\"") && text.summary.contains("\"home\""))
      #expect(text.remedy.hasSuffix("."))
    }
  }
}
