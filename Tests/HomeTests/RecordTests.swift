import Testing

@testable import Home

@Suite struct RecordTests {
  @Test("Keys of records are equal where they are the same in the same order") func keys() {
    var one = RecordKeys()
    for id: UInt32 in 1...8 { one.insert(.former(id)) }
    var other = one
    other.insert(.former(1))
    #expect(other == one && other.count == 8)
    other.insert(.former(9))
    #expect(other != one)
  }

  /// A router with a value in each of its fields.
  static var fullRouter: Router {
    let now = WireTime(milliseconds: 1_700_000_000_123)
    var router = Router(7, at: now)
    router.user = "otbr"
    router.owner = "hub"
    router.team = "hub"
    router.extras.formerKey = FormerKey(key: Hash128(high: 1, low: 2), until: now)
    router.extras.credentialsGoneAt = now
    router.ownName = "Hall"
    router.extras.endpoint = "router.local, 49152"
    router.vendor = "Vendor"
    router.model = "Model"
    router.extendedAddress = .max
    router.extras.accessPoint = "ap"
    router.extras.ssid = "ssid"
    router.dataset = .of(1)
    router.credential = .conflict
    router.reportDiffers = .pskc
    router.extras.lacks = [.pskc, .channelMask]
    router.credentialCreatedAt = now
    router.credentialChangedAt = now
    router.datasetChangedAt = now
    router.extras.reading = ReadingNote(
      readAt: now, change: .init(of: 1, at: now, differs: .channel, channel: 25, networkName: "next", hasLanded: true),
      problem: .invalid, refusals: .init(pskc: Hash128(low: 3), first: now, last: now, count: 2),
      contradiction: .init(differs: .panID, first: now, last: now))
    router.followsPreferred = true
    router.memberOf = 1
    router.extras.acceptedOn = 4
    router.currentNetwork = 2
    router.threadState = .leader
    router.threadStateSince = now
    router.threadStateReportedAt = WireTime(milliseconds: -5)
    router.isPresent = true
    router.isOnline = true
    router.beats = true
    router.offlineReason = .untrusted
    router.extras.httpStatus = 599
    router.source = .mdns
    router.isAdvertised = true
    router.extras.reporter = "ha"
    router.isUnadvertised = true
    router.extras.advertised = .init(network: 3, networkName: "seen", activeSeconds: 9)
    router.extras.partition = 77
    router.reportedPartition = 78
    router.isRecordGone = true
    router.awaySince = WireTime(milliseconds: 7)
    router.extras.threadVersion = "1.3.0"
    (router.extras.offMeshPrefix, router.extras.sharesByCode) = (0xFD97_FF26_5534_0001, false)
    router.isKnown = false
    router.isOpenForCode = true
    router.extras.askedCodeEndsAt = now
    router.past.become(.otherNetwork, at: now)
    router.past.become(.away, at: now.adding(seconds: 7_200))
    (router.extras.givenName, router.extras.endpoint) = ("kept", "10.0.0.7, 49154")
    router.extras.resetFrom = .init(agent: 8, name: "was", memberOf: 3)
    var terms = Adoption.Terms(
      user: "otbr", team: "hub", fingerprint: "one", preferred: .of(1), reported: .of(2), consent: ConsentID(5))
    terms.message = 8
    terms.deadline = now
    router.adoption = Adoption(.sent, terms)
    router.order.high = 9
    router.order.seen = 3
    router.order.identifiers = ["a", "\n"]
    return router
  }

  /// Shared credentials with a value in each of their fields.
  private static var fullShared: SharedCredentials {
    let now = WireTime(milliseconds: 1_700_000_000_123)
    var order = SequenceWindow()
    _ = order.take(.number(5))
    var subject = ConsentSubject(.deleteThere, [ConsentNetwork(.of(2), of: "ha")])
    subject.since = now
    return SharedCredentials(
      user: "ha", dataset: .partial(2), lacks: [.pskc], agent: 4, name: "Home Assistant", isPreferredThere: true,
      createdAt: now, changedAt: now.adding(seconds: 1), reportedAt: now.adding(seconds: 2), follows: true,
      denied: [Hash128(low: 7)], isThere: false, writes: true, offAirSince: now, agentGoneSince: now.adding(seconds: 3),
      refused: [.agentThere],
      agreed: AgreedChange(consent: ConsentID(9), subject: subject, fingerprint: "one", until: now), order: order)
  }

  static var home: Home {
    var scene = HomeScene { $0.settings.adoptTimeout = 300 }
    scene.announce(1, .of(1))
    scene.enroll("otbr")
    scene.home.put(fullRouter)
    scene.home.shared[2] = ["ha": fullShared]
    scene.home.agents["ha"] = [
      "store": ReportingAgent(
        user: "ha", name: "store", trouble: "no token", serverDiffers: true, workedAt: scene.now,
        firstReportedAt: scene.now, reportedAt: scene.now)
    ]
    scene.ask(.getPreferred) { $0.reply = .topic("t", correlation: [1, 2], transaction: "x") }
    return scene.home
  }

  @Test("A router comes back with all its fields") func router() throws {
    let home = Self.home
    let bytes = try #require(home.record(.router(7)))
    var read = Home(rules: home.step.rules)
    #expect(try read.load(bytes) == .router(7))
    #expect(read.routers[7] == home.routers[7])
    // None of them stands there as it is made.
    let fresh = Router(7, at: WireTime(milliseconds: 0))
    for (full, empty) in [(Self.fullRouter, fresh), (Self.fullRouter.extras, fresh.extras)] as [(Any, Any)] {
      for (mine, other) in zip(Mirror(reflecting: full).children, Mirror(reflecting: empty).children)
      where mine.label != "agent" {
        #expect(String(describing: mine.value) != String(describing: other.value), "\(mine.label ?? "")")
      }
    }
  }

  @Test("A router that has lost its extras is one that never had any") func extras() {
    let before = Router(7, at: WireTime(milliseconds: 0))
    var router = before
    router.extras.ssid = "ssid"
    #expect(router != before && router.hasExtras && router.ssid == "ssid")
    router.extras.ssid = nil
    #expect(router == before && !router.hasExtras)
  }

  @Test("Shared credentials come back with all their fields") func shared() throws {
    let key = RecordKey.shared("ha", 2)
    let bytes = try #require(Self.home.record(key))
    var read = Home(rules: Self.home.step.rules)
    #expect(try read.load(bytes) == key)
    #expect(read.shared == [2: ["ha": Self.fullShared]])
    #expect(read.record(.shared("ha", 1)) == nil)
  }

  @Test("Every message of an alert comes back") func messages() throws {
    var message = Self.message(after: nil)
    while let current = message {
      var home = Home(rules: HomeScene().rules)
      let key = AlertKey(.storeDamaged, .user("u"))
      var facts = AlertFacts(current)
      facts.hasNoNetwork = true
      home.setAlert(key, facts)
      let bytes = try #require(home.record(.alert(key)))
      var read = Home(rules: home.step.rules)
      #expect(try read.load(bytes) == .alert(key), "\(current)")
      #expect(read.alerts == home.alerts, "\(current)")
      message = Self.message(after: current)
    }
  }

  /// All messages in a row, so that the compiler finds the one that is forgotten here.
  private static func message(after message: AlertFacts.Message?) -> AlertFacts.Message? {
    let named = AlertFacts.Named(1, "home")
    return switch message {
    case nil: .elsewhere(isConfiguredForPreferred: true)
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
    case .offline(nil): .offline(.frozen)
    case .offline: .lostNetwork(isLast: true)
    case .lostNetwork: .silentWithoutNetwork
    case .silentWithoutNetwork: .notSeen(isStopped: true)
    case .notSeen: .agentSilent(.silent)
    case .agentSilent: .recordGone
    case .recordGone: .awayTogether(routers: 3, of: 4)
    case .awayTogether: .detached
    case .detached: .notAdvertised
    case .notAdvertised: .wellKnownKey
    case .wellKnownKey: .joined
    case .joined: .wasReset(isOnPreferred: true)
    case .wasReset: .reportsDiffer
    case .reportsDiffer: .openForCode
    case .openForCode: .adoptionFailed(.refused, isConfiguredForPreferred: false)
    case .adoptionFailed: .noPreferred(isForgotten: true, networks: [named], more: 2)
    case .noPreferred: .plaintext
    case .plaintext: .networkChanges(channel: 25, name: nil)
    case .networkChanges(_, nil): .networkChanges(channel: nil, name: "next")
    case .networkChanges:
      .keysDisputed(claimed: 4, current: nil, departed: .init(["x", "a", "b", "c"]), hasDamage: true)
    case .keysDisputed: .preferredChanged(change(because: .first), disagrees: true)
    case .preferredChanged(let old, _):
      cause(after: old.cause).map { .preferredChanged(change(because: $0), disagrees: false) }
        ?? .movedTo(routers: 3, of: 4, lost: 1)
    case .movedTo: .preferredEmpty(routers: 2, elsewhere: 1)
    case .preferredEmpty: .split([.init(["a"])], parts: 2)
    case .split: .otherPreferred
    case .otherPreferred: .sharedPartial
    case .sharedPartial: .sharedOlder
    case .sharedOlder: .sharedConflict
    case .sharedConflict: .ghostNetwork(isAsked: true)
    case .ghostNetwork: .ghostAgent(isAsked: false)
    case .ghostAgent: .agentNotWorking(nil)
    case .agentNotWorking(nil): .agentNotWorking("no token")
    case .agentNotWorking: .matterServerDiffers("refused")
    case .matterServerDiffers: .daemon
    case .daemon: nil
    }
  }

  private static func cause(after cause: PreferredCause) -> PreferredCause? {
    switch cause {
    case .first: .sameKeys
    case .sameKeys: .onlyMember
    case .onlyMember: .confirmed(by: 3)
    case .confirmed: .owner
    case .owner: .person
    case .person: .shared
    case .shared: nil
    }
  }

  private static func change(because cause: PreferredCause) -> PreferredChange {
    let named = AlertFacts.Named(1, "home")
    return PreferredChange(
      from: named, to: named, differs: [.channel], bringsCredentials: true, cause: cause, who: "a", second: nil,
      formerID: 4)
  }

  @Test("A record that is cut anywhere, or has more bytes, is refused") func cut() throws {
    let home = Self.home
    var keys: [RecordKey] = [.home, .router(7), .client("otbr"), .shared("ha", 2), .agent("ha", "store")]
    keys += home.questions.map { .question($0.id) }
    for key in keys {
      let bytes = try #require(home.record(key))
      for count in 0..<bytes.count {
        var read = Home(rules: home.step.rules)
        #expect(throws: RecordError.self) { try read.load(Array(bytes.prefix(count))) }
      }
      var read = Home(rules: home.step.rules)
      #expect(throws: RecordError.self) { try read.load(bytes + [0]) }
    }
  }

  @Test("Bits fill a byte before another one begins, whatever is written between them") func bits() throws {
    var coder = RecordCoder()
    true.write(to: &coder)
    UInt16(300).write(to: &coder)
    for number in 1..<9 { (number % 3 == 0).write(to: &coder) }
    (nil as String?).write(to: &coder)
    ("a" as String?).write(to: &coder)
    let bytes = coder.bytes
    #expect(bytes == [0b0100_1001, 0xAC, 0x02, 0b0000_0100, 1, 0x61])
    var reader = RecordCoder(bytes)
    var (bits, number) = ([try Bool.read(from: &reader)], try UInt16.read(from: &reader))
    for _ in 1..<9 { bits.append(try Bool.read(from: &reader)) }
    #expect(bits == (0..<9).map { $0 % 3 == 0 } && number == 300)
    let (absent, present): (String?, String?) = try reader.rest()
    #expect(absent == nil && present == "a")
  }

  @Test("A record with a bit that stands for nothing is refused") func bitsLeft() throws {
    let read = { (bytes: [UInt8]) throws(RecordError) -> (Bool, Bool) in
      var reader = RecordCoder(bytes)
      return try reader.rest()
    }
    let (first, second) = try read([0b10])
    #expect(!first && second)
    for bytes: [UInt8] in [[0b110], [0x82], []] { #expect(throws: RecordError()) { try read(bytes) } }
  }

  @Test("A number takes as many bytes as it needs, and comes back") func numbers() throws {
    for (number, count) in [(0, 1), (0x7F, 1), (0x80, 2), (0x3FFF, 2), (0x4000, 3), (.max, 10)] as [(UInt64, Int)] {
      var coder = RecordCoder()
      number.write(to: &coder)
      coder.write(fixed: number)
      let bytes = coder.bytes
      #expect(bytes.count == count + 8)
      #expect(Array(bytes.suffix(8)) == withUnsafeBytes(of: number.littleEndian) { Array($0) })
      var reader = RecordCoder(bytes)
      let (short, fixed) = (try UInt64.read(from: &reader), try reader.readFixed())
      #expect(short == number && fixed == number)
    }
  }

  @Test("A time that is written again takes a byte, and any two come back") func times() throws {
    let now = WireTime(milliseconds: 1_700_000_000_123)
    var coder = RecordCoder()
    for _ in 1...3 { now.write(to: &coder) }
    #expect(coder.bytes.count == 8)
    let all = [.min, -1, 0, 1, now.milliseconds, .max].map { WireTime(milliseconds: $0) }
    for first in all {
      for second in all {
        var coder = RecordCoder()
        first.write(to: &coder)
        second.write(to: &coder)
        var reader = RecordCoder(coder.bytes)
        let read: (WireTime, WireTime) = try reader.rest()
        #expect(read == (first, second))
      }
    }
  }

  @Test("A record has room for everything", arguments: [0, 1, 500, 505, 510, 511, 512, 513, 1_000, 70_000]) func room(
    _ length: Int
  ) throws {
    var coder = RecordCoder()
    let text = String(repeating: "x", count: length)
    for _ in 1...3 {
      text.write(to: &coder)
      coder.write(fixed: .max)
      UInt64.max.write(to: &coder)
      OfflineReason.frozen.write(to: &coder)
    }
    var reader = RecordCoder(coder.bytes)
    for _ in 1...3 {
      let (read, fixed) = (try String.read(from: &reader), try reader.readFixed())
      let (number, reason) = (try UInt64.read(from: &reader), try OfflineReason.read(from: &reader))
      #expect(read == text && fixed == .max && number == .max && reason == .frozen)
    }
    #expect(reader.bytesLeft == 0)
  }

  @Test("A text comes back in any script; one that is not UTF-8 is refused") func text() throws {
    for text in ["", "Hall", "Küche", "居間"] {
      var coder = RecordCoder()
      _ = try coder(text)
      var reader = RecordCoder(coder.bytes)
      let read: String = try reader(nil)
      #expect(read == text && reader.bytesLeft == 0)
    }
    for bytes: [UInt8] in [[1, 0xFF], [2, 0x41, 0xC3], [3, 0xED, 0xA0, 0x80], [2, 0x41]] {
      #expect(throws: RecordError()) {
        var reader = RecordCoder(bytes)
        _ = try reader(nil) as String
      }
    }
  }

  @Test("A record of another form is refused") func form() throws {
    var bytes = try #require(Self.home.record(.home))
    bytes[1] = 1
    var read = Home(rules: HomeScene().rules)
    #expect(throws: RecordError.self) { try read.load(bytes) }
  }

  @Test("Records are written in the order in which they were noted first, each once") func order() {
    var keys = RecordKeys()
    let all = (0..<40).map { RecordKey.former($0) }
    for key in all { keys.insert(key) }
    for key in all.reversed() { keys.insert(key) }
    #expect(Array(keys) == all)
  }

  @Test("Of two former networks of one step the older one is written first") func formerInOrder() throws {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    _ = scene.home.takeChanges()
    for network: UInt64 in 2...12 { scene.prefer(.of(network, at: network)) }
    let changes = scene.home.takeChanges()
    var read = Home(rules: scene.rules)
    for key in changes.records { if let record = scene.home.record(key) { _ = try read.load(record) } }
    #expect(read.former == scene.home.former && read.former.count == FormerNetwork.limit)
  }

  @Test(
    "Plaintext of a user whose messages must be signed is not believed because a record is lost",
    arguments: [false, true]) func lostClient(isHomeFirst: Bool) throws
  {
    var scene = HomeScene()
    scene.enroll("otbr", trust: .signed)
    scene.enroll("other")
    scene.announce(1, .of(1), from: "free")
    let changes = scene.home.takeChanges()
    var keys = changes.records.filter { $0 != .client("otbr") && $0 != .client("other") }
    keys.removeAll { $0 == .home }
    keys.insert(.home, at: isHomeFirst ? 0 : keys.count)
    #expect(changes.records.contains(.home))
    var read = HomeScene()
    for key in keys { _ = try read.home.load(#require(scene.home.record(key))) }
    read.home.finishLoading()
    #expect(read.announce(7, .of(1), from: "otbr").rejection == .notSealed)
    #expect(read.announce(8, .of(1), from: "other").rejection == nil)
    // Enrolled again, and forgotten.
    read.enroll("otbr", trust: .broker)
    #expect(read.announce(7, .of(1), from: "otbr").rejection == nil)
  }

  @Test("A record of a client is read instead of what the home's record says of it") func readClient() throws {
    var scene = HomeScene()
    scene.enroll("otbr", trust: .signed)
    let records: [RecordKey] = [.home, .client("otbr")]
    for keys in [records, records.reversed()] {
      var read = Home(rules: scene.rules)
      for key in keys { _ = try read.load(#require(scene.home.record(key))) }
      #expect(read.clients == scene.home.clients)
    }
  }
}
