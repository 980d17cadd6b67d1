import Broker
import ServiceDiscovery
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

extension WireTime {
  /// Of a clock that nobody has set.
  fileprivate var moment: ClockMoment { ClockMoment(wall: self, steady: milliseconds) }
}

@Suite("From the browser of the local network to the list", .serialized) struct DiscoveryIntakeTests {
  /// The loop's.
  private struct LoopClock: Clock {
    let time: LoopKit.Time

    func now() -> WireTime { .init(milliseconds: time.now.milliseconds) }
    func moment() -> ClockMoment { time.now.moment }
  }

  private let kit: LoopKit
  private let intake: DiscoveryIntake
  private let log = RecordingLog()
  private let agent: BorderAgentID

  init() throws {
    kit = try LoopKit(discovers: true)
    intake = DiscoveryIntake(
      kit.loop, home: "home", path: "/store", clock: LoopClock(time: kit.time), logger: log.logger)
    agent = try #require(BorderAgentID(hex: Advert.garage))
    for user: ExactName in ["ha", "other"] { try kit.enroll(user, try Identity().keys) }
  }

  private let obstacle = DiscoveryObstacle(message: "nobody answers", remedy: "Install it.")

  /// Nil where it is not listed.
  private var router: Router? { kit.home.routers[agent].flatMap { $0.isPresent ? $0 : nil } }

  /// The list has the record, and is complete.
  private func find(_ advert: Advert = Advert()) async throws {
    intake.receive(.found(advert.service))
    intake.receive(.listed)
    try await eventually("the router is listed") { router != nil }
    try await eventually("it is counted") { intake.current == .running(routers: 1, unlisted: []) }
  }

  @Test("What is found is listed soon, and its number is known") func found() async throws {
    defer { intake.stop() }
    #expect(intake.current == .starting)
    try await find()
    #expect(router?.isOnline == true)
    intake.receive(.lost(name: "Kitchen"))
    try await eventually("the router is offline") { router?.isOnline == false }
  }

  private func code(_ name: String, port: UInt16 = 5) -> ServiceUpdate {
    .found(ServiceRecord(name: name, host: Advert().service.host, port: port, text: TXTRecord(entries: [])))
  }

  @Test("A router is open for a code while its host has that service, also where that came first") func code()
    async throws
  {
    defer { intake.stop() }
    intake.receiveCode(code("any"))
    try await find()
    try await eventually("it is open") { router?.isOpenForCode == true }
    intake.receiveCode(.lost(name: "any"))
    try await eventually("it is not") { router?.isOpenForCode == false }
  }

  @Test("A code whose record is still there after ten minutes has ended; at another port it is another one")
  func codeInCache() async throws {
    defer { intake.stop() }
    try await find()
    intake.receiveCode(code("any"))
    try await eventually("it is open") { router?.isOpenForCode == true }
    kit.time.advance(seconds: 600)
    intake.receiveCode(code("any"))
    intake.write()
    #expect(router?.isOpenForCode == false)
    intake.receiveCode(code("any", port: 6))
    try await eventually("it is open again") { router?.isOpenForCode == true }
  }

  @Test("Of two routers on one host the one is open whose name the code has") func codeOfOne() {
    var records = DiscoveryRecords()
    let now = kit.time.now
    for (name, digit) in [("Kitchen", "a"), ("Attic", "b")] {
      _ = records.take(.found(Advert(name: name, id: String(repeating: digit, count: 32)).service), at: now)
    }
    func open(_ update: ServiceUpdate) -> [String?] {
      _ = records.takeCode(update, at: now.moment)
      return records.look(at: now.moment)?.list.filter { $0.codePort != nil }.map(\.name) ?? []
    }
    #expect(open(code("Attic")) == ["Attic"])
    #expect(open(.lost(name: "Attic")) == [])
    #expect(open(code("any")) == ["Kitchen", "Attic"])
  }

  @Test("A code goes on when the clock is set, and ends after ten minutes", arguments: [1_000_000_000, -1_000_000])
  func codeWhenClockIsSet(seconds: Int) {
    var records = DiscoveryRecords()
    let now = kit.time.now
    _ = records.take(.found(Advert(name: "Kitchen").service), at: now)
    _ = records.takeCode(code("Kitchen"), at: now.moment)
    for (passed, port) in [(Int64(599_999), UInt16(5)), (600_000, nil)] {
      let later = ClockMoment(wall: now.adding(seconds: seconds), steady: now.milliseconds + passed)
      #expect(records.look(at: later)?.list.map(\.codePort) == [port])
    }
  }

  @Test("What else is published with a router's host does not take the place of its own code", arguments: ["A", "Z"])
  func codeOfOthers(_ name: String) {
    var records = DiscoveryRecords()
    let now = kit.time.now
    _ = records.take(.found(Advert(name: "Kitchen").service), at: now)
    for update in [code(name, port: 9), code("Kitchen", port: 5), code(name + "2", port: 9)] {
      _ = records.takeCode(update, at: now.moment)
    }
    #expect(records.look(at: now.moment)?.list.map(\.codePort) == [5])
    _ = records.takeCode(.lost(name: "Kitchen"), at: now.moment)
    #expect(records.look(at: now.moment)?.list.map(\.codePort) == [9])
  }

  @Test("A TREL peer that is left over is named beside the records that are not listed") func peer() async throws {
    defer { intake.stop() }
    try await find()
    for (name, host) in [("ot1", "gone.local"), ("ot2", Advert().service.host)] {
      intake.receivePeer(.found(ServiceRecord(name: name, host: host, port: 7, text: TXTRecord(entries: []))))
    }
    kit.time.advance(seconds: 600)
    // The clock may have been set: the other one's border router is announced now.
    let reason = "it is a TREL peer, and no border router with its address or host is announced"
    #expect(intake.current == .running(routers: 1, unlisted: [UnlistedRecord(name: "ot1", reason: reason)]))
  }

  @Test("A router whose record was lost in silence was seen when it answered last") func silence() async throws {
    defer { intake.stop() }
    try await find()
    kit.time.advance(seconds: 600)
    intake.receive(.lost(name: "Kitchen", silence: .seconds(125)))
    try await eventually("the router is offline") { router?.isOnline == false }
    #expect(kit.home.routers.lastSeen(agent) == kit.time.now.adding(seconds: -125))
  }

  @Test("A router that is removed while a cache has its record is listed again once it answers") func removed()
    async throws
  {
    defer { intake.stop() }
    try await find()
    try kit.loop.perform(.remove(agent), in: "home")
    intake.write()
    kit.time.advance(seconds: DiscoveryMemory.answerLimit - 1)
    intake.write()
    #expect(router == nil)
    // Its address would have expired.
    kit.time.advance(seconds: 1)
    intake.write()
    #expect(router != nil)

    try kit.loop.perform(.remove(agent), in: "home")
    intake.write()
    intake.receive(.lost(name: "Kitchen"))
    try await eventually("its record is gone") { intake.current == .running(routers: 0, unlisted: []) }
    intake.receive(.found(Advert().service))
    try await eventually("it is listed") { router != nil }
  }

  @Test("Of two records with one id, the one that came first counts") func twoRecords() async throws {
    defer { intake.stop() }
    try await find(Advert(name: "z"))
    intake.receive(.found(Advert(name: "a", network: .guest).service))
    try await eventually("the other one is refused") {
      intake.current
        == .running(
          routers: 1,
          unlisted: [
            UnlistedRecord(name: "a", reason: "it is another record of the border router \(agent), which is listed")
          ])
    }
    #expect(router?.name == "z")
  }

  @Test("A record that cannot be used is named, with the reason, and changes nothing") func unusable() async throws {
    defer { intake.stop() }
    let nameless = Advert(id: nil).service
    intake.receive(.found(nameless))
    intake.receive(.unusable(name: "Attic", reason: "nobody answers"))
    intake.receive(.listed)
    let attic = UnlistedRecord(name: "Attic", reason: "nobody answers")
    let kitchen = UnlistedRecord(name: "Kitchen", reason: BorderRouterAdvertisement.flaw(nameless))
    #expect(intake.current == .running(routers: 0, unlisted: [attic, kitchen]))
    intake.receive(.lost(name: "Kitchen"))
    #expect(intake.current == .running(routers: 0, unlisted: [attic]))
    intake.receive(.found(Advert(name: "Attic").service))
    #expect(intake.current == .running(routers: 0, unlisted: []))
    try await eventually("it is listed") { router != nil }
    // It was usable before.
    intake.receive(.found(Advert(name: "Attic", id: nil).service))
    try await eventually("its router is offline") { router?.isOnline == false }
  }

  @Test("A scan lists what a home would list: records of one router are one, and the others are named") func scan()
    throws
  {
    let scan = DiscoveryScan()
    scan.receive(.found(Advert(address: "0011223344556677").service))
    scan.receive(.found(Advert(name: "Kitchen (2)", address: "0011223344556677").service))
    scan.receive(.found(Advert(name: "Attic", id: nil).service))
    scan.receive(.listed)
    let (home, unlisted) = try scan.result()
    #expect(home.routers.map(\.name) == ["Kitchen"] && unlisted.map(\.name) == ["Attic", "Kitchen (2)"])
    scan.receive(.unavailable(obstacle))
    #expect(throws: obstacle) { try scan.result() }
  }

  @Test("While avahi-daemon is away, the list stays as it was, and the reason is known") func unavailable() async throws
  {
    defer { intake.stop() }
    try await find()
    intake.receive(.unavailable(obstacle))
    #expect(intake.current == .unavailable(message: "nobody answers", remedy: "Install it."))
    intake.write()
    #expect(router?.isOnline == true)
    // It came back, and the router is not there any more.
    intake.receive(.listed)
    try await eventually("the router is offline") { router?.isOnline == false }
    #expect(log.lines.contains { $0.contains("Install it.") })
  }

  private func reported(_ network: SampleNetwork = .home) -> [Advertisement] {
    [BorderRouterAdvertisement(Advert(network: network).service)].compactMap(\.self)
  }

  private func sees(_ network: SampleNetwork) -> Bool { router?.network?.description == network.extendedPANID }

  @Test("What an agent sees is listed where avahi-daemon is away, and what it sees no more is offline") func reported()
    async throws
  {
    defer { intake.stop() }
    intake.receive(.unavailable(obstacle))
    intake.receive(reported(), of: "ha")
    try await eventually("the router is listed") { router?.isOnline == true }
    #expect(router?.source == .mdns && router?.owner == nil)
    try await eventually("its number is known") { intake.current.routers == 1 }
    #expect(intake.current.state == .running && intake.current.reporter == "ha")
    intake.receive([], of: "ha")
    try await eventually("the router is offline") { router?.isOnline == false }
  }

  @Test("What only a silent agent has seen stays as it was for a day, whatever others see") func silentAgent()
    async throws
  {
    defer { intake.stop() }
    intake.receive(.unavailable(obstacle))
    intake.receive(reported(), of: "ha")
    try await eventually("the router is listed") { router != nil }
    intake.receive([], of: "other")
    intake.write()
    #expect(router?.isOnline == true, "one of them has it")
    kit.time.advance(seconds: 180)
    #expect(intake.current == .unavailable(message: "nobody answers", remedy: "Install it."))
    intake.write()
    #expect(router?.isOnline == true)
    intake.receive([], of: "other")
    intake.write()
    #expect(router?.isOnline == true && intake.current.state == .running)
    kit.time.advance(seconds: 86_400)
    intake.receive([], of: "other")
    intake.write()
    #expect(router?.isOnline == false)
  }

  @Test("After a start, a router that an agent saw stays until that has reported without it, or for a day")
  func emptyAfterStart() async throws {
    intake.receive(reported(), of: "ha")
    try await eventually("the router is listed") { router != nil }
    intake.stop()
    func next() -> DiscoveryIntake {
      let next = DiscoveryIntake(
        kit.loop, home: "home", path: "/store", clock: LoopClock(time: kit.time), logger: log.logger)
      next.receive(.listed)
      next.write()
      return next
    }
    let reports = next()
    #expect(router?.isOnline == true)
    reports.receive([], of: "ha")
    reports.write()
    #expect(router?.isOnline == false)
    reports.receive(reported(), of: "ha")
    reports.write()
    #expect(router?.isOnline == true)
    reports.stop()
    let silent = next()
    defer { silent.stop() }
    kit.time.advance(seconds: 86_399)
    silent.write()
    #expect(router?.isOnline == true)
    kit.time.advance(seconds: 1)
    silent.write()
    #expect(router?.isOnline == false)
  }

  @Test("An agent that falls silent is a problem also where the daemon's own search runs and finds none")
  func silentBesideOwnSearch() async throws {
    defer { intake.stop() }
    intake.receive(.listed)
    intake.receive(reported(), of: "ha")
    try await eventually("the router is listed") { router != nil }
    try await eventually("by whom is known") { intake.current.reporter == "ha" }
    kit.time.advance(seconds: 180)
    intake.write()
    #expect(router?.isOnline == true && intake.current.state == .unavailable)
  }

  @Test("What the daemon has found itself outranks what an agent sees of it, and one that it has lost has gone")
  func ownRecords() async throws {
    defer { intake.stop() }
    intake.receive(.listed)
    intake.receive(reported(.guest), of: "ha")
    try await eventually("the agent's record is listed") { sees(.guest) && router?.reporter == "ha" }
    try await find()
    try await eventually("its own record counts") { sees(.home) && router?.reporter == nil }
    intake.receive([], of: "ha")
    intake.write()
    #expect(router?.isOnline == true && intake.current.reporter == nil)
    intake.receive(reported(.guest), of: "ha")
    intake.receive(.lost(name: "Kitchen"))
    try await eventually("the router is offline") { router?.isOnline == false }
    intake.receive(.unavailable(obstacle))
    intake.receive(reported(.guest), of: "ha")
    intake.write()
    #expect(router?.isOnline == true && router?.reporter == "ha")
  }

  @Test("A daemon that sees one of two routers lists both") func union() async throws {
    defer { intake.stop() }
    let attic = Advert(name: "Attic", id: String(repeating: "a", count: 32))
    intake.receive(.found(attic.service))
    intake.receive(.listed)
    intake.receive(reported() + [BorderRouterAdvertisement(attic.service)].compactMap(\.self), of: "ha")
    try await eventually("both are listed") { intake.current.routers == 2 && router?.reporter == "ha" }
    #expect(intake.current.unlisted == [] && intake.current.reporter == "ha")
  }

  @Test("Sightings of a login that nobody has enrolled, or that is revoked, list nothing") func notEnrolled() throws {
    defer { intake.stop() }
    intake.receive(.listed)
    intake.receive(reported(), of: "forger")
    intake.write()
    #expect(router == nil)
    intake.receive(reported(), of: "ha")
    intake.write()
    #expect(router?.isOnline == true)
    try kit.loop.perform(.revoke("ha", forgets: false, by: .commandLine(user: 0)), in: "home")
    intake.write()
    #expect(router?.isOnline == false)
  }

  @Test("A store that cannot be written is a warning once, and the list follows when it can") func failure()
    async throws
  {
    defer { intake.stop() }
    kit.memory.contents.withLock { $0.left = 0 }
    for (round, name) in ["a", "b"].enumerated() {
      intake.receive(.found(Advert(name: name).service))
      try await eventually("a round is over") { intake.rounds > round }
    }
    #expect(intake.current.state == .unavailable)
    #expect(intake.current.problem?.hasPrefix("What is found cannot be stored: ") == true)
    kit.memory.contents.withLock { $0.left = nil }
    intake.receive(.found(Advert().service))
    try await eventually("the router is listed") { router != nil }
    #expect(log.lines.count { $0.contains("cannot be written") } == 1)
  }

  @Test("When a router was seen last is kept until it is written") func seenLastAfterFailure() throws {
    var records = DiscoveryRecords()
    let now = kit.time.now
    _ = records.take(.found(Advert().service), at: now)
    _ = records.take(.found(Advert(name: "Attic", id: String(repeating: "a", count: 32)).service), at: now)
    _ = records.take(.listed, at: now)
    _ = records.take(.lost(name: "Kitchen", silence: .seconds(5)), at: now)
    let first = records.look(at: now.moment)
    let sightings = try #require(first)
    #expect(sightings.lastSeen[agent] == now.adding(seconds: -5) && sightings.list.count == 1)
    // Another one goes while these are written.
    _ = records.take(.lost(name: "Attic", silence: .seconds(3)), at: now)
    records.written(sightings, by: nil)
    let rest = records.look(at: now.moment)?.lastSeen ?? [:]
    #expect(rest[agent] == nil && rest.values.contains(now.adding(seconds: -3)))
  }

  @Test("After a stop nothing is due any more, and what was due is not written") func stopped() throws {
    var records = DiscoveryRecords()
    let now = kit.time.now
    #expect(records.take(.found(Advert().service), at: now) == 250)
    #expect(records.take(.found(Advert(at: 2).service), at: now) == nil)
    records.isScheduled = false
    records.isStopped = true
    #expect(records.take(.found(Advert(at: 3).service), at: now) == nil)
    intake.stop()
    intake.receive(.found(Advert().service))
    intake.write()
    #expect(intake.rounds == 0)
    #expect(router == nil)
  }
}

@Suite("How long changes on the local network are gathered") struct DiscoveryPaceTests {
  private let start = WireTime(milliseconds: 1_000_000)

  @Test("A few changes are written at once, more and more of them ever later, up to a limit") func delays() {
    var pace = DiscoveryPace()
    let delays = (0..<20).map { pace.delay(at: start.adding(seconds: $0)) }
    #expect(delays.prefix(8).allSatisfy { $0 == 250 })
    #expect(delays[8...14] == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
    #expect(delays[15...].allSatisfy { $0 == 30_000 })
  }

  @Test("After a minute without a change it is quick again, also when the clock is set back") func rest() {
    var pace = DiscoveryPace()
    for second in 0..<12 { _ = pace.delay(at: start.adding(seconds: second)) }
    #expect(pace.delay(at: start.adding(seconds: 72)) == 250)
    for second in 73..<90 { _ = pace.delay(at: start.adding(seconds: second)) }
    #expect(pace.delay(at: start) == 250)
  }
}
