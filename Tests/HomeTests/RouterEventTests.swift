import Testing

@testable import Home

/// `announce`, `dataset` and `leave`: what is then known of the router.
@Suite struct RouterEventTests {
  @Test("A first announcement stores its dataset, and its network becomes the preferred one") func first() throws {
    var scene = HomeScene()
    let output = scene.announce(1, .of(1))
    #expect(output.types == [.announced, .datasetStored, .preferredChanged])
    #expect(output.secrets == [SecretMove(to: .home, from: .input), SecretMove(to: .router(1), from: .input)])
    let router = try #require(scene.router(1))
    #expect(router.owner == "otbr" && router.credential == .stored && router.followsPreferred)
    #expect(scene.preferred == .of(1))
    #expect(scene.home.verdict(of: router) == .match)
    #expect(scene.firing.isEmpty)
  }

  @Test(
    "What becomes of a dataset that a router reports",
    arguments: [
      ("newer", .of(2), .of(2, at: 2, channel: 20), .datasetUpdated, .stored),
      ("older", .of(2, at: 5), .of(2, at: 4, channel: 20), .datasetIgnored, .stale),
      ("of the same age and different", .of(2), .of(2, channel: 20), .datasetIgnored, .conflict),
      ("another network, older", .of(2, at: 5), .of(3, at: 1), .datasetUpdated, .stored),
    ] as [(String, DatasetSummary, DatasetSummary, RouterEvent.Types, CredentialState)]) func change(
      _ what: String, _ stored: DatasetSummary, _ incoming: DatasetSummary, _ types: RouterEvent.Types,
      _ credential: CredentialState
    )
  {
    var scene = HomeScene()
    scene.announce(9, .of(1))
    scene.announce(1, stored)
    let output = scene.publish(.dataset, 1) { $0.dataset = incoming }
    #expect(output.types == types)
    #expect(scene.router(1)?.credential == credential)
    #expect(scene.router(1)?.dataset == (credential == .stored ? incoming : stored))
    #expect(scene.preferred == .of(1))
  }

  @Test("What an announcement leaves out stays as it was, but for where the router is") func partial() throws {
    var scene = HomeScene()
    scene.announce(1, .of(1)) {
      $0.name = "Attic"
      $0.vendor = "Acme"
      $0.model = "BR-1"
      $0.extendedAddress = 5
      $0.accessPoint = "ap"
      $0.thread = ThreadReport(state: .leader, network: 1)
    }
    scene.publish(.dataset, 1) { $0.dataset = .of(1) }
    let router = try #require(scene.router(1))
    #expect(router.name == "Attic" && router.vendor == "Acme" && router.model == "BR-1")
    #expect(router.extendedAddress == 5 && router.accessPoint == "ap")
    #expect(router.threadState == nil && router.threadStateSince == nil)
    #expect(router.currentNetwork == nil)
  }

  @Test("Without a dataset the router is listed, nobody owns it, and its credentials are missing") func noDataset()
    throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    let output = scene.announce(1)
    #expect(output.types == .announced && output.secrets.isEmpty)
    #expect(scene.router(1)?.owner == nil && scene.router(1)?.credential == .missing)
    #expect(scene.alarms == [.of(.credentialsMissing, 1), .of(.noPreferredNetwork)])
    scene.announce(1, .of(1), from: "other")
    #expect(scene.router(1)?.owner == "other" && scene.alarms == [])
    #expect(scene.announce(1, from: "otbr").rejection == .notAuthorized(1))
  }

  @Test("An announcement without a dataset leaves an ignored one ignored") func ignored() {
    var scene = HomeScene()
    scene.announce(1, .of(1, at: 5))
    scene.announce(1, .of(1, at: 4))
    scene.announce(1)
    #expect(scene.router(1)?.credential == .stale)
    scene.announce(1, .of(1, at: 5))
    #expect(scene.router(1)?.credential == .stored)
  }

  @Test("A change says what differs, and a move where it came from") func detail() throws {
    var scene = HomeScene()
    scene.announce(9, .of(9))
    scene.announce(1, .of(1))
    func event(_ output: HomeOutput) -> RouterEvent? { output.routerEvents.first }
    let change = event(scene.announce(1, .of(1, at: 2, channel: 20)))
    #expect(change?.differs == .channel && change?.previousNetwork == nil)
    #expect(change?.user == "otbr" && change?.network?.name == "net-1")
    let move = event(scene.announce(1, .of(2, key: 2, at: 1, channel: 20)))
    #expect(move?.previousNetwork == 1)
    #expect(move?.differs == [.networkKey, .extendedPANID, .networkName, .pskc])
    let conflict = event(scene.announce(1, .of(2, key: 2, at: 1)))
    #expect(conflict?.isConflict == true && conflict?.differs == .channel)
    #expect(event(scene.announce(1, .of(2, key: 2, at: 0)))?.isConflict == false)
  }

  @Test("The preferred network's parameters count, however old, after other ones of it") func returns() {
    var scene = HomeScene()
    scene.announce(9, .of(1))
    scene.announce(8, .of(1))
    scene.announce(1, .of(1, key: 2, at: 5))
    scene.announce(1, .of(1, at: 1))
    #expect(scene.router(1)?.dataset == .of(1) && scene.router(1)?.credential == .stored)
    #expect(scene.verdict(of: 1) == .match)
  }

  @Test(
    "A report of the preferred network more than a year ahead of the clock is a conflict",
    arguments: [(365 * 86_400, true), (365 * 86_400 + 1, false)]) func ahead(_ seconds: Int, _ isTaken: Bool)
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1))
    let time = UInt64(scene.now.milliseconds) / 1_000 + UInt64(seconds)
    let output = scene.announce(1, .of(1, at: time, channel: 20))
    #expect(output.types == (isTaken ? [.datasetUpdated, .preferredChanged] : .datasetIgnored))
    #expect(scene.router(1)?.credential == (isTaken ? .stored : .conflict))
    #expect(scene.firing.contains(.of(.datasetConflict, 1)) == !isTaken)
    // Of another network, or with other keys, it is none of the home's business.
    #expect(scene.announce(1, .of(2, at: time + 99)).types == .datasetUpdated)
  }

  @Test("A router that leaves is off the list, without credentials, and its id stays its team's") func leave() throws {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1)) { $0.name = "Attic" }
    scene.publish(.offline, 1)
    let output = scene.publish(.leave, 1)
    #expect(output.types == .left && output.alerts == [.borderRouterOffline: .resolved])
    #expect(output.secrets == [SecretMove(to: .router(1), from: .nothing)])
    #expect(output.audit == [.credentialsDeleted(1)])
    let left = try #require(scene.router(1))
    #expect(!left.isPresent && left.dataset == nil && left.owner == "otbr" && left.name == "Attic")
    #expect(scene.preferred == .of(1))
    #expect(scene.home.networks.map(\.routers) == [0])
  }

  @Test("The last router of the preferred network that leaves is named as that, and no other") func last() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.announce(2, .of(1))
    scene.announce(3, .of(2))
    func isLast(_ agent: UInt64) -> Bool {
      scene.publish(.leave, agent).routerEvents.contains(where: \.isLastOfPreferred)
    }
    #expect(!isLast(3) && !isLast(1))
    #expect(isLast(2))
  }

  @Test("Who is not listed cannot leave; that is a repetition, no fault") func leaveTwice() {
    var scene = HomeScene()
    #expect(scene.publish(.leave, 1).isDuplicate && scene.router(1) == nil)
    scene.announce(1, .of(1))
    scene.publish(.leave, 1)
    #expect(scene.publish(.leave, 1).isDuplicate)
    scene.announce(2)
    scene.see(.of(2))
    scene.publish(.leave, 2)
    // Its login keeps it off the list while its record is still there.
    #expect(scene.router(2)?.isPresent == false && scene.router(2)?.user == "otbr")
  }

  @Test("A leave deletes credentials that are stored while the router is not listed") func leaveUnlisted() {
    var scene = HomeScene()
    scene.enroll("otbr")
    scene.ask(.storeCredentials(1, .of(1)), by: .login("otbr"))
    let output = scene.publish(.leave, 1)
    #expect(!output.isDuplicate && output.events.isEmpty)
    #expect(scene.router(1)?.dataset == nil && scene.router(1)?.owner == "otbr")
  }

  @Test("Heartbeat, offline and SSID of a router that has not announced itself are refused") func unknown() {
    var scene = HomeScene()
    for kind in [RouterMessage.Kind.heartbeat, .offline, .ssid] {
      #expect(scene.publish(kind, 1) { $0.ssid = "a" }.rejection == .unknownRouter)
    }
    scene.announce(1, .of(1))
    scene.publish(.leave, 1)
    #expect(scene.publish(.heartbeat, 1).rejection == .unknownRouter)
  }

  @Test(
    "Once another login publishes for the last router of one, that one sends nothing unsealed",
    arguments: [RouterMessage.Kind.announce, .heartbeat, .offline]) func plaintextOfFormer(_ kind: RouterMessage.Kind)
  {
    var scene = HomeScene {
      $0.settings.alertsHold = 0
      $0.team = { _ in "family" }
    }
    let key = AlertKey(.plaintextCredentials, .user("anna"))
    scene.announce(1, .of(1), from: "anna")
    #expect(scene.firing.contains(key))
    scene.publish(kind, 1, from: "ben")
    #expect(!scene.firing.contains(key))
  }

  @Test("Who sends datasets in plaintext is named, until the last of its routers leaves") func plaintext() {
    var scene = HomeScene { $0.team = { $0 == "two" ? "otbr" : $0 } }
    let key = AlertKey(.plaintextCredentials, .user("otbr"))
    scene.announce(1, .of(1))
    scene.announce(2, .of(1))
    scene.pass(seconds: 30)
    #expect(scene.firing == [key])
    scene.publish(.leave, 1)
    #expect(scene.firing == [key])
    // Another login of the team takes over.
    scene.announce(2, from: "two")
    #expect(scene.firing == [])
  }
}
