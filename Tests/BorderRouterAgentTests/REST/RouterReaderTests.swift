import Testing
import ThreadDataset

@testable import BorderRouterAgent

@Suite("What a router reports over REST, as recorded") struct RouterReaderTests {
  private func garbage(_ look: RouterLook) -> String? {
    if case .silent(.garbage(let words, _)) = look { words } else { nil }
  }

  @Test("A leader reports id, address, network, state and its dataset, whose hex is in upper case") func leader() throws
  {
    let report = try RecordedRouter("leader").report()
    #expect("\(report.agent)" == "cd3a5fcf67989ca18a04a04e244a117e")
    #expect(report.extendedAddress == "3a627e27f297f1a2")
    #expect(report.state == .leader && report.partition == 1_397_909_389)
    #expect(report.network.map { "\($0)" } == "46f884013203dcdf")
    #expect(report.networkName == "home")
    #expect(report.active?.networkName == "home")
    #expect(report.pending == nil && !report.hasNoNetwork)
  }

  @Test("A fresh router, and one after a factory reset, has no network: 204, and disabled") func empty() throws {
    #expect(try RecordedRouter("fresh").report().hasNoNetwork)
    let reset = try RecordedRouter("reset").report()
    #expect(reset.hasNoNetwork)
    #expect(try reset.agent != RecordedRouter("leader").report().agent)
  }

  @Test("A stopped router has a dataset, and so a network") func stopped() throws {
    let report = try RecordedRouter("stopped").report()
    #expect(report.state == .disabled && report.active != nil && !report.hasNoNetwork)
    #expect(report.partition == nil)
  }

  @Test("A router that is configured for one network and still on another one reports both") func elsewhere() throws {
    let report = try RecordedRouter("elsewhere").report()
    #expect(report.network.map { "\($0)" } == "6e52e0967999ec0d")
    #expect(report.active?.extendedPANID.map { "\($0)" } == "46f884013203dcdf")
    #expect(try !report.uses(#require(report.active)))
  }

  @Test("A coming change is read from the pending dataset") func pending() throws {
    let report = try RecordedRouter("pending").report()
    #expect(report.pending?.channel?.number == 20)
    #expect(report.pending?.delayTimer == 56_568)
    #expect(report.active?.channel?.number == 15)
  }

  @Test("A dataset without all parameters is there, of no use, and what it lacks is named") func partial() throws {
    let report = try RecordedRouter("partial").report()
    #expect(report.active == nil && !report.hasNoNetwork)
    #expect(
      report.dataset.flaw
        == "it lacks Active Timestamp, Channel Mask, Extended PAN ID, Mesh-Local Prefix, Network Name, PSKc, "
        + "Security Policy")
    var router = try RecordedRouter("leader")
    router.answer("/node/dataset/active", 200, "0102ffff")
    #expect(try router.report().dataset == .unusable("PAN ID at byte 0 is out of range, expected 0x0000 to 0xFFFE"))
  }

  @Test("An error that the router answers is named with its status", arguments: [500, 408]) func status(_ status: Int)
    throws
  {
    var router = try RecordedRouter("leader")
    for path in router.answers.keys { router.answer(path, status) }
    #expect(try router.look() == .silent(.garbage("/node/state answers \(status)", status: status)))
  }

  @Test("Keys in both spellings, and states as numbers, mean the same") func spellings() throws {
    var router = try RecordedRouter("leader")
    let report = try router.report()
    for path in ["/node/ba-id", "/node/ext-panid", "/node/network-name", "/node/state"] { router.answers[path] = nil }
    router.answer(
      "/node", 200,
      """
      {"BaId":"CD3A5FCF67989CA18A04A04E244A117E","State":4,"ExtAddress":"3A627E27F297F1A2",
       "NetworkName":"home","ExtPanId":"46F884013203DCDF","LeaderData":{"PartitionId":1397909389},"NumOfRouter":1}
      """)
    #expect(try router.report() == report && report.isAlone)
  }

  @Test("What /node lacks is asked by its own path, and an old version's id is its extended address") func old() throws
  {
    var router = try RecordedRouter("leader")
    router.answer("/node", 404)
    var expected = try RecordedRouter("leader").report()
    // How many routers there are is not asked then, and neither is their partition.
    expected.isAlone = false
    expected.partition = nil
    #expect(try router.report() == expected)
    router.answers["/node/ba-id"] = nil
    #expect(try "\(router.report().agent)" == "3a627e27f297f1a2")
    router.answers["/node/ext-panid"] = nil
    #expect(try router.report().network == nil)
  }

  @Test("A router that has reported its id is not another one when it does not for once") func missingID() throws {
    var router = try RecordedRouter("leader")
    var reader = RouterReader()
    _ = try router.look(&reader)
    router.answer("/node", 404)
    router.answers["/node/ba-id"] = nil
    #expect(try garbage(router.look(&reader)) == "/node/ba-id is no border agent id")
  }

  @Test(
    "An answer of another form is garbage, and never a router without a dataset",
    arguments: [
      ("/node/dataset/active", 404, ""), ("/node/dataset/active", 500, ""), ("/node/dataset/active", 200, ""),
      ("/node/dataset/active", 200, "<html>"), ("/node/dataset/active", 200, "0e0"), ("/node", 200, "[]"),
      ("/node", 200, "{"), ("/node/dataset/pending", 409, ""),
    ]) func garbage(_ path: String, _ status: Int, _ body: String) throws
  {
    for state in ["leader", "reset"] {
      var router = try RecordedRouter(state)
      router.answer(path, status, body)
      #expect(try garbage(router.look()) != nil)
    }
  }

  @Test("A state that nobody knows is garbage, and so is one of another type") func states() throws {
    for body in ["\"asleep\"", "9", "true", "\"leader\" \"leader\"", "{\"v\":1}", "1},{\"v\":\"leader\""] {
      var router = try RecordedRouter("leader")
      router.answer("/node", 200, "{\"baId\":\"cd3a5fcf67989ca18a04a04e244a117e\"}")
      router.answer("/node/state", 200, body)
      #expect(try garbage(router.look()) == "/node/state is no Thread state", "\(body)")
    }
  }

  @Test("Without an answer it is silent, with the reason") func silent() throws {
    for (failure, silence) in [
      (HTTPFailure.timeout, RouterSilence.frozen), (.unreachable("refused"), .unreachable("refused")),
      (.garbage("cut off"), .garbage("cut off")),
    ] {
      var reader = RouterReader()
      let look = try reader.look { _ throws(HTTPFailure) in throw failure }
      #expect(look == .silent(silence))
    }
  }
}

@Suite("Which agent of a process publishes for a router") struct RouterCensusTests {
  private let first: HTTPAddress
  private let second: HTTPAddress

  init() throws {
    first = try #require(HTTPAddress("http://127.0.0.1:1"))
    second = try #require(HTTPAddress("http://127.0.0.1:2"))
  }

  @Test("Two addresses of one router: the first agent publishes, again and again") func duplicate() throws {
    let census = RouterCensus()
    let router = try Sample.agent()
    for _ in 0..<3 {
      #expect(census.owner(of: router, seenAt: first) == first)
      #expect(census.owner(of: router, seenAt: second) == first)
    }
    #expect(census.seen(besides: first) == [router])
  }

  @Test("Two routers swap their addresses: each agent publishes for the other one soon") func swap() throws {
    let census = RouterCensus()
    let (one, two) = (try Sample.agent("1"), try Sample.agent("2"))
    #expect(census.owner(of: one, seenAt: first) == first)
    #expect(census.owner(of: two, seenAt: second) == second)
    // Swapped, and the second one has not looked yet.
    #expect(census.owner(of: two, seenAt: first) == second)
    #expect(census.owner(of: one, seenAt: second) == second)
    #expect(census.owner(of: two, seenAt: first) == first)
    #expect(census.seen(besides: first) == [one] && census.seen(besides: second) == [two])
  }
}
