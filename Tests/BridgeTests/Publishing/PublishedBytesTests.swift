import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

/// What is published, byte for byte, in files: each line is a message. It begins with `=` where the broker keeps it, for
/// so many seconds where a number follows, and with `>` where not.
@Suite("Bytes of what is published") struct PublishedBytesTests {
  private static let now = PublishingScene().now
  private static let awkward = "Attic \"2\" é\u{1}/\\\n😀"

  /// Lines of publications: what is kept in the order of its bytes, because nothing else is decided about that, then
  /// the rest as it came.
  struct Transcript {
    private(set) var text = ""

    mutating func add(_ title: String, _ publications: [Publication]) {
      let kept = publications.filter(\.retain).map {
        "=\($0.messageExpiry.map(String.init) ?? "") \($0.topic) \($0.text)"
      }
      let others = publications.filter { !$0.retain }.map { "> \($0.topic) \($0.text)" }
      text += (["# \(title)"] + kept.sorted() + others).map { Self.masked($0) + "\n" }.joined()
    }

    /// Without what is another one in each process: tokens of buttons, the process, and what is sealed.
    private static func masked(_ line: String) -> String {
      line.replacing(#/(token\W+)[0-9a-f]{32}/#) { "\($0.output.1)TOKEN" }.replacing(#/("process":")[0-9a-f]{16}/#) {
        "\($0.output.1)PROCESS"
      }.replacing(#/("(?:ct|kid)":")[^"]+/#) { "\($0.output.1)SEALED" }
    }

    /// The payloads of each kind of topic below `base`, by the name of its schema.
    func payloads(below base: String) -> [String: String] {
      var found: [String: String] = [:]
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[0] != "#", words[1].hasPrefix("\(base)/") else { continue }
        let levels = words[1].dropFirst(base.count + 1).split(separator: "/")
        let schema =
          switch (levels[0], levels.last) {
          case ("bridge", "alert"), ("alert", _): "alert-event"
          case ("bridge", let last?): last == "event" ? "event" : "bridge-\(last)"
          case ("router", "availability"): "availability"
          case ("router", "event"): "event"
          default: String(levels[0])
          }
        found[schema, default: ""] += words[2] + "\n"
      }
      return found
    }
  }

  /// - Parameter home: it decides about everything.
  private static func settings(home assistant: Bool) -> PublisherSettings {
    var settings = assistant ? PublisherSettings.homeAssistant : .home()
    settings.version = "1.2.3"
    settings.instanceID = "000102030405060708090a0b0c0d0e0f"
    settings.identity = { (line: "tk1:line", fingerprint: "0123-4567") }
    settings.homes[0].alertsHold = 7
    settings.homes[0].offlineAfter = 77
    settings.homes[0].onMismatch = assistant ? .adopt : .alert
    return settings
  }

  /// All that is retained of a home.
  private static func states(_ scene: PublishingScene, home assistant: Bool = false) throws -> [Publication] {
    let publisher = PublisherScene(settings(home: assistant), scene)
    var all = try publisher.connect(sessionPresent: false)
    publisher.tick()
    all += try publisher.pump()
    return all
  }

  private static func events(_ events: [HomeEvent]) -> [Publication] {
    var scene = PublishingScene()
    scene.output.events = events
    return scene.messages()
  }

  // MARK: Each value of each field

  private static func everyRouter() -> PublishingScene {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(7, at: 5, name: awkward))
    scene.share(.of(7, at: 5)) { $0.name = awkward }
    scene.share(.of(9), from: "hub")
    scene.home.accepted.insert(ExtendedPANID(number: 8))
    for (index, adoption) in AdoptionState.allCases.enumerated() {
      var router = Router(.number(UInt64(100 + index)), at: now)
      (router.isPresent, router.isOnline) = (true, index % 2 == 0)
      router.offlineReason = router.isOnline ? nil : OfflineReason.allCases[index / 2]
      router.threadState = ThreadState.allCases[index / 2 % 5]
      router.threadStateSince = now.adding(seconds: -index)
      router.reportedPartition = .max
      router.credential = CredentialState.allCases[index % CredentialState.allCases.count]
      router.source = index % 3 == 0 ? .mdns : .mqtt
      router.dataset = [nil, .of(7, at: 5, name: awkward), .of(8, channel: 26)][index % 3]
      if index % 6 == 3 {
        router.extras.advertised = .init(network: ExtendedPANID(number: 8), networkName: "net-8", activeSeconds: 3)
      }
      router.currentNetwork = index % 4 == 0 ? ExtendedPANID(number: 10) : nil
      router.adoption = Adoption(adoption)
      (router.ownName, router.vendor, router.model) = (awkward, awkward, "M\(index)")
      (router.extendedAddress, router.user) = (UInt64.max - UInt64(index), "otbr")
      router.extras.givenName = index == 1 ? "Attic" : nil
      (router.extras.accessPoint, router.extras.ssid) = ("ap", awkward)
      router.extras.threadVersion = "1.4.0"
      router.extras.offMeshPrefix = 0xFD97_FF26_5534_0001 + UInt64(index)
      router.extras.sharesByCode = index % 2 == 1
      router.datasetChangedAt = now.adding(seconds: index)
      scene.home.routers.set(router, firstSeen: now)
    }
    for (index, problem) in ([nil] + ReadingProblem.allCases).enumerated() {
      var router = Router(.number(UInt64(200 + index)), at: now)
      (router.isPresent, router.isOnline, router.source) = (true, true, .mdns)
      router.dataset = .of(7, at: 5, name: awkward)
      router.credential = .stored
      router.extras.reading = ReadingNote(readAt: now, problem: problem)
      if problem == nil {
        router.extras.reading?.change = .init(
          of: ExtendedPANID(number: 7), at: now.adding(seconds: 58), differs: [.channel, .networkName], channel: 25,
          networkName: awkward)
      }
      scene.home.routers.set(router, firstSeen: now)
    }
    return scene
  }

  /// A home where Home Assistant has buttons for the preferred network.
  private static func undecided(isChosen: Bool) throws -> PublishingScene {
    var scene = PublishingScene()
    if isChosen {
      scene.publish(.announce, 1, .of(7)) { ($0.name, $0.vendor, $0.model) = (awkward, "X", "M1") }
      let disputed = AlertTextTests.facts(.keysDisputed(claimed: 9, current: 5, departed: .init(), hasDamage: false))
      scene.home.show(alert(disputed), as: AlertKey(.preferredKeyDisputed))
    } else {
      var seen = try #require(Advertisement([.number(1)]))
      (seen.network, seen.networkName) = (ExtendedPANID(number: 9), awkward)
      scene.handle(.sightings(Sightings([seen])))
    }
    return scene
  }

  private static func everyEvent() -> [HomeEvent] {
    let changes: [(inout RouterEvent) -> Void] = [
      { ($0.isConflict, $0.check, $0.isLastOfPreferred) = (true, PreferredCheck.none, true) }, { $0.check = .match },
      { ($0.types, $0.isRemoved, $0.check) = (.left, true, .mismatch(.channel)) },
      { ($0.types, $0.isFirstNetwork, $0.user) = (.online, true, nil) }, { $0 = RouterEvent(.preferredChanged) },
    ]
    let ofRouters = changes.map { change in
      var event = RouterEvent(RouterEvent.Types(rawValue: .max), .number(1))
      (event.routerName, event.user) = (awkward, ExactName(awkward))
      event.network = .init(.of(7, name: awkward))
      event.differs = DatasetDifferences(rawValue: 0x1FF)
      event.previousNetwork = ExtendedPANID(number: 8)
      (event.ssid, event.previousSSID, event.consent) = ("new", awkward, ConsentID(3))
      change(&event)
      return HomeEvent.router(event)
    }
    let questions = ConsentSubject.Command.allCases.map(question)
    let decisions =
      [
        (ConsentRecord.Outcome.approved, ConsentScope.once), (.approved, .always), (.denied, nil), (.expired, nil),
        (.revoked, nil),
      ] as [(ConsentRecord.Outcome, ConsentScope?)]
    return ofRouters + questions.map { .asked($0) }
      + zip(questions, decisions).map { question, decision in
        .decided(
          ConsentRecord(
            id: question.id, outcome: decision.0, requester: question.requester, subject: question.subject,
            createdAt: now, decidedAt: now, by: decision.0 == .expired ? nil : .login("ha", team: "ha"),
            scope: decision.1, grant: nil, obstacle: nil))
      }
  }

  private static func question(_ command: ConsentSubject.Command) -> ConsentQuestion {
    var requester = Requester(.login("phone"), team: "phones")
    if command == .network {
      requester = Requester(.systemUser(1_003), team: "bob")
      (requester.userName, requester.program) = ("bob", awkward)
    }
    requester.fingerprint = "0123-4567"
    let owner: ExactName? = command == .network ? "hub" : nil
    let networks = (1...(command == .nearby ? 2 : 1)).map {
      ConsentNetwork(id: ExtendedPANID(number: UInt64($0)), name: ExactName(awkward), team: owner, key: nil)
    }
    let router = ConsentSubject.Router(
      agent: .number(2), name: awkward, network: .init(ExtendedPANID(number: 9), "old"))
    return ConsentQuestion(
      id: ConsentID(UInt64(command.rawValue)), requester: requester,
      subject: ConsentSubject(command, networks, router: command == .adopt ? router : nil), createdAt: now,
      expiresAt: now.adding(seconds: 120), replies: [], keyHasChanged: command == .write)
  }

  @Test("Each router, network, event and question, and each state of the daemon") func values() throws {
    var transcript = Transcript()
    transcript.add("each router", try Self.states(Self.everyRouter()))
    transcript.add("each event", Self.events(Self.everyEvent()))
    for command in ConsentSubject.Command.allCases {
      var scene = PublishingScene()
      scene.home.questions = [Self.question(command)]
      transcript.add(
        "a question: \(command)", try Self.states(scene, home: true).filter { $0.topic.contains(/consent|c-0/) })
    }
    let writer = EventWriter(home: "home", base: "tk", ways: .init(isOnlyHome: true))
    let rejections =
      Rejection.Code.allCases.map { Rejection($0, field: "ssid", offset: 12, message: Self.awkward) }
      + IntakeTests.ofHomes.map { Rejection($0, home: "home") } + [
        .retained, .tooManyEvents, .noKeys, .needsSequence, .damagedEnrolment, .ended(2),
      ] + EnvelopeRefusal.allCases.map { Rejection($0) }
      + DatasetError.Code.allCases.map {
        Rejection(DatasetError(code: $0, type: 3, offset: 1, message: "m"), field: "dataset")
      }
    transcript.add(
      "each rejection",
      rejections.flatMap {
        writer.publications(writer.row($0, topic: "tk/in/a/ssid", user: "a", agent: .number(1), at: Self.now))
      })

    let publisher = PublisherScene(Self.settings(home: false))
    try publisher.connect()
    publisher.read()
    for (intake, health) in Self.everyHealth() {
      publisher.publisher.publish(health)
      transcript.add("health: \(intake)", try publisher.pump())
    }
    for reason in ["the disk is full", nil] {
      publisher.publisher.setStoreProblem(reason)
      publisher.tick()
      transcript.add("the store: \(reason ?? "works")", try publisher.pump())
    }
    transcript.add("the daemon", publisher.publisher.greetings() + publisher.publisher.lastPublications())
    for isChosen in [true, false] {
      transcript.add(
        isChosen ? "devices while keys are disputed" : "devices while none is preferred",
        try Self.states(Self.undecided(isChosen: isChosen), home: true).filter {
          $0.topic.hasPrefix("ha/") || $0.topic.hasSuffix("/info")
        })
    }
    var protected = PublishingScene()
    protected.publish(.announce, 1, .of(1))
    for input in [HomeInput.confirmAlerts(true), .recoveryCode(true)] { protected.handle(input) }
    transcript.add("a home that is protected", try Self.states(protected).filter { $0.topic.hasSuffix("/info") })
    try Golden.check(transcript.text, "values.txt")
    for device in ["tk/config", "tk_0000000000000001/config", "tk_c-", "tk_n-", "tk_p-"] {
      #expect(transcript.text.contains("/threadkeeper_\(device)"), "no such device: \(device)")
    }

    let payloads = transcript.payloads(below: "tk")
    for name in [
      "router", "network", "availability", "event", "bridge-consent", "bridge-daemon", "bridge-health", "bridge-info",
      "bridge-state",
    ] {
      let missing = try PublishedSchema(name).missing(in: payloads[name] ?? "")
      #expect(missing == [], "values.txt lacks what the schema \(name) has")
    }
  }

  /// By the word for what the intake does.
  private static func everyHealth() -> [(String, BridgeHealth)] {
    var snapshot = BridgeMonitor.Snapshot()
    snapshot.received = .max
    snapshot.rejected = 6
    snapshot.retainedIgnored = 7
    snapshot.duplicatesIgnored = 8
    snapshot.publicationsRefused = 13
    snapshot.intakeReconnects = 14
    var running = snapshot
    running.intakeLink.isConnected = true
    var connecting = snapshot
    connecting.lastConnectionProblem = awkward
    var backingOff = snapshot
    backingOff.storeProblem = BridgeMonitor.StoreProblem(reason: awkward, since: now, stopsIntake: true, seen: now)
    var counts = HomeCounts()
    counts.routers = everyRouter().home.routers.totals
    counts.networks = 3
    counts.alerts = [HomeCounts.AlertKind(name: .homeMoved, severity: .warning): 4]
    counts.credentialsReadAt = now
    return [("running", running), ("connecting", connecting), ("backing_off", backingOff)].map {
      var status = DaemonStatus(
        $1, counts, RequestService.Figures(answered: 9, refused: 10, dropped: 11), waiting: 12, uptime: 1_000)
      status.lastBackup = now
      return ($0, BridgeHealth(status: status))
    }
  }

  // MARK: Alerts

  /// Which alert a sentence is of; nil for the daemon's own.
  private static func name(_ message: AlertFacts.Message) -> AlertName? {
    switch message {
    case .elsewhere, .notAttached, .neverMember, .otherNetwork, .otherCredentials: .preferredNetworkMismatch
    case .behind, .reportsOlder, .sharedOlder: .staleDataset
    case .sameAge, .reportsConflict, .sharedConflict: .datasetConflict
    case .noDataset, .sharedPartial: .credentialsMissing
    case .offline, .lostNetwork, .silentWithoutNetwork, .notSeen, .agentSilent, .recordGone: .borderRouterOffline
    case .awayTogether: .homeOffline
    case .detached: .routerDetached
    case .notAdvertised: .routerNotAdvertised
    case .wellKnownKey: .wellKnownNetworkKey
    case .joined, .wasReset: .unknownRouter
    case .openForCode: .credentialSharingOpen
    case .reportsDiffer: .reportsDiffer
    case .networkChanges: .networkChanges
    case .adoptionFailed: .adoptionFailed
    case .noPreferred: .noPreferredNetwork
    case .plaintext: .plaintextCredentials
    case .keysDisputed: .preferredKeyDisputed
    case .preferredChanged: .preferredNetworkChanged
    case .movedTo: .homeMoved
    case .preferredEmpty: .preferredNetworkEmpty
    case .split: .networkSplit
    case .otherPreferred: .homeAssistantDiffers
    case .agentNotWorking: .agentNotWorking
    case .ghostNetwork, .ghostAgent: .ghostNetwork
    case .matterServerDiffers: .matterServerDiffers
    case .daemon: nil
    }
  }

  private static let ofDaemon: [(AlertName, AlertFacts)] =
    [
      (.messagesDropped, .messagesDropped), (.sessionLost, .sessionLost),
      (.storeReadOnly, .storeReadOnly("the disk is full")),
      (.brokerAuthenticationFailed, .brokerAuthenticationFailed("no", remedy: "Log in.")),
      (.sessionTakenOver, .sessionTakenOver("another client")), (.sessionTakenOver, .sharedClientID),
      (.storeDamaged, .storeDamaged(records: 2, home: "home")),
      (.anchorAltered, .anchorAltered(.anchorMissing(path: "/anchor"))),
      (.consentByHomeAssistant, .consentByHomeAssistant(login: "ha")), (.testAlert, .test),
      (.discoveryAltered, .discoveryAltered(topic: "ha/x")), (.stateAltered, .stateAltered(topic: "tk/x")),
      (.threadPathBroken, .unreached),
      (
        .zigbeeSharesChannel,
        .zigbeeSharesChannel(.init(preferred: .init(network: ExtendedPANID(number: 1), name: "home"), channel: 15))
      ),
    ]
    + [(false, false), (true, false), (false, true)].map {
      (.anotherDaemon, .anotherDaemon(.init(home: "home", base: "tk", instance: "0a", isOwner: $0.0, isCopy: $0.1)))
    }

  /// Each sentence that the tests of sentences have, and the rest.
  private static func everyAlert() -> [(AlertKey, AlertFacts)] {
    let others: [AlertFacts.Message] =
      [.notAttached, .behind, .reportsOlder, .recordGone, .notSeen(isStopped: false), .offline(nil)]
      + OfflineReason.allCases.map { .offline($0) }
      + AdoptionState.allCases.filter(\.hasFailed).map { .adoptionFailed($0, isConfiguredForPreferred: true) }
    let facts =
      AlertTextTests.summaries.map(\.0) + AlertTextTests.remedies.map(\.0) + others.map { AlertTextTests.facts($0) }
    var alerts: [(AlertKey, AlertFacts)] = []
    var known: Set<AlertFacts> = []
    for one in facts where known.insert(one).inserted {
      guard let name = name(one.message) else { continue }
      let subject: AlertSubject =
        AlertName.ofRouters.contains(name) && one.router != nil
        ? .router(.number(7)) : one.user.map { .user($0) } ?? .home
      alerts.append((AlertKey(name, subject), one))
    }
    return alerts + ofDaemon.map { (AlertKey($0.0), $0.1) }
  }

  private static func alert(_ facts: AlertFacts, isOver: Bool = false) -> Alert {
    var alert = Alert(phase: isOver ? .resolved : .firing, facts: facts, heldSince: now, updatedAt: now)
    (alert.startsAt, alert.endsAt) = (now.adding(seconds: -30), isOver ? now : nil)
    alert.sequence = 3
    return alert
  }

  @Test("Each alert with each of its sentences, as an event and as a state") func alerts() throws {
    let all = Self.everyAlert()
    var events: [HomeEvent] = all.map { key, facts in .alert(key, Self.alert(facts), .raised, previousSeverity: nil) }
    let key = AlertKey(.routerDetached, .router(.number(7)))
    for number in UInt8.min...(.max) {
      guard let trigger = AlertFacts.Trigger(rawValue: number) else { continue }
      let facts = AlertTextTests.facts(.detached) { $0.trigger = trigger }
      events.append(.alert(key, Self.alert(facts), .updated, previousSeverity: AlertSeverity.allCases[Int(number) % 3]))
    }
    events.append(
      .alert(key, Self.alert(AlertTextTests.facts(.detached), isOver: true), .resolved, previousSeverity: nil))
    var transcript = Transcript()
    transcript.add("each alert", Self.events(events))

    var scene = PublishingScene()
    let ofNames = Dictionary(all.map { ($0.0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for name in AlertName.allCases {
      let (key, facts) = try #require(ofNames[name], "no alert \(name) is here")
      scene.home.show(Self.alert(facts, isOver: name.rawValue % 4 == 0), as: key)
    }
    transcript.add("as states", try Self.states(scene).filter { $0.topic.contains(/alert/) })
    try Golden.check(transcript.text, "alerts.txt")

    let payloads = transcript.payloads(below: "tk")
    #expect(payloads["bridge-alerts"]?.contains("\"alerts\":[{") == true)
    let missing = try PublishedSchema("alert-event").missing(in: payloads["alert-event"] ?? "")
    #expect(missing == [], "alerts.txt lacks what the schema has")
    let kept = transcript.text.split(separator: "\n").filter { $0.hasPrefix("=") }
    for name in AlertName.allCases {
      #expect(kept.contains { $0.contains("\"alertname\":\"\(name.word)\"") }, "\(name)")
    }
  }

  // MARK: A day of a home

  @Test("What happens in a home, step by step, with the devices of Home Assistant") func story() throws {
    let scene = PublisherScene(
      Self.settings(home: true),
      PublishingScene {
        $0.settings.adoptTimeout = 300
        $0.settings.alertsHold = 1
      })
    var transcript = Transcript()
    func step(_ title: String, _ body: (inout PublishingScene) -> Void) throws {
      scene.commit(body)
      // A device is announced once in five seconds.
      scene.tick(after: 6)
      transcript.add(title, try scene.pump())
    }
    func decide(_ what: (ConsentID) -> ConsentDecision.What) throws {
      guard let id = scene.scene.home.questions.first(where: { !$0.isDenied })?.id else { return }
      try step("it is decided") { $0.decide(what(id)) }
    }
    transcript.add("connected", try scene.connect(sessionPresent: false))
    scene.read()
    var seen = try #require(Advertisement([BorderAgentID(high: 0xAB, low: 1)]))
    (seen.name, seen.vendor, seen.model) = ("Seen", "Maker", "M1")
    (seen.network, seen.networkName) = (ExtendedPANID(number: 9), "net-9")
    (seen.extendedAddress, seen.activeSeconds, seen.partition) = (1, 2, 3)
    (seen.threadVersion, seen.role) = ("1.4.0", .leader)
    try step("seen on the local network") { $0.handle(.sightings(Sightings([seen]))) }
    try step("without a dataset") { $0.publish(.announce, 3) { ($0.name, $0.lacks) = ("Bare", [.networkName]) } }
    try step("its Wi-Fi") { $0.publish(.ssid, 3) { ($0.ssid, $0.previousSSID) = ("new", "old") } }
    try step("announced") {
      $0.publish(.announce, 1, .of(7, at: 5)) {
        ($0.name, $0.vendor, $0.model) = ("Attic", "Maker", "M1")
        ($0.extendedAddress, $0.accessPoint) = (0x0102_0304_0506_0708, "ap")
        $0.thread = .init(state: .leader, network: ExtendedPANID(number: 7), partition: .max)
      }
    }
    try step("an older one") { $0.publish(.dataset, 1, .of(7, at: 4)) }
    try step("a conflict") { $0.publish(.dataset, 1, .of(7, at: 5, channel: 20)) }
    try step("newer") { $0.publish(.dataset, 1, .of(7, at: 6, channel: 20)) }
    try step("on another network") { $0.publish(.announce, 2, .of(8)) { $0.name = "Attic" } }
    try step("and another") { $0.publish(.dataset, 2, .of(10)) }
    try step("cannot be reached") { $0.publish(.offline, 2) { ($0.offlineReason, $0.httpStatus) = (.failing, 500) } }
    try step("is back") { $0.publish(.heartbeat, 2) }
    try step("enrolled") { $0.enroll("otbr") }
    for _ in 0..<4 { try step("time passes") { $0.tick(after: 10) } }
    try decide { .approve($0, .always) }
    try step("sent") { $0.tick() }
    try step("a phone") { $0.enroll("phone") }
    try step("asks") { $0.ask() }
    try decide { .deny($0) }
    try step("asks for one network") { $0.ask(.getNetwork(ExtendedPANID(number: 8))) }
    try decide { .approve($0, .once) }
    try step("asks for all") { $0.ask(.nearbyNetworks) }
    try step("nobody decides") { $0.tick(after: 121) }
    try step("wants to write") { $0.ask(writes: true) }
    try decide { .approve($0, .always) }
    try step("shared") { $0.share(.of(7, key: 3, at: 9)) { ($0.name, $0.isPreferred) = ("Home Assistant", true) } }
    try step("other keys") { $0.publish(.announce, 5, .of(7, key: 4, at: 8), from: "hub") }
    try step("a minute later") { $0.tick(after: 60) }
    try step("removed") { $0.handle(.remove(.number(2))) }
    try step("left") { $0.publish(.leave, 1) }
    try step("forgotten") { $0.handle(.request(.forgetPreferred, .administrator)) }
    try step("the next day") { $0.tick(after: 86_500) }
    try Golden.check(transcript.text, "story.txt")
    #expect(
      Set(transcript.payloads(below: "tk").keys).isSuperset(of: [
        "router", "network", "availability", "event", "alert-event", "bridge-info", "bridge-consent",
      ]))
  }
}

extension AlertFacts {
  /// Nil would be an alert that has ended.
  fileprivate static let unreached =
    AlertFacts.threadPathBroken([PathFault(.elsewhere(prefixes: [0xFD97_FF26_5534_0001]), ["\"Attic\""])])
    ?? AlertFacts(.daemon)
}
