import Testing
import ThreadDataset

@testable import Home

/// The preferred network by choice.
@Suite struct PreferredRequestTests {
  private static let anna = Requester.login("anna")
  private static let machine = Requester.program(of: "anna")

  /// Network 1 is preferred; anna has a router on it and two on network 2, bob one on network 3.
  private static func scene() -> HomeScene {
    var scene = HomeScene()
    scene.announce(1, .of(1, at: 5), from: "anna")
    scene.announce(2, .of(2, at: 3), from: "anna")
    scene.announce(3, .of(2, at: 9), from: "anna")
    scene.announce(4, .of(3), from: "bob")
    return scene
  }

  @Test("Whether a network is preferred, and whether a dataset is of it, is no secret") func checks() {
    var scene = HomeScene()
    let bob = Requester.login("bob")
    #expect(scene.ask(.isPreferredAvailable, by: bob) == .available(false))
    #expect(scene.ask(.checkPreferred(.of(1)), by: bob) == .checked(.none))
    scene = Self.scene()
    #expect(scene.ask(.isPreferredAvailable, by: bob) == .available(true))
    for (dataset, check) in [
      (.of(1, at: 99), .match), (.of(1, at: 5, channel: 20), .conflict(.channel)),
      (.of(1, at: 4, channel: 20), .stale(.channel)), (.of(1, at: 6, channel: 20), .mismatch(.channel)),
      (.of(2, at: 5), .mismatch([.extendedPANID, .networkName])),
    ] as [(DatasetSummary, PreferredCheck)] { #expect(scene.ask(.checkPreferred(dataset), by: bob) == .checked(check)) }
  }

  struct Choice: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var requester: Requester?
    var isApprover = false
    var before: @Sendable (inout HomeScene) -> Void = { _ in }
    let choice: HomeRequest.PreferredChoice
    var chosen: DatasetSummary?
    var source = SecretMove.Source.input
    var refusal: HomeRefusal?
  }

  @Test(
    "What may be chosen, by whom",
    arguments: [
      // By dataset.
      Choice(testDescription: "a dataset that nobody has", choice: .dataset(.of(7)), chosen: .of(7)),
      Choice(
        testDescription: "an approver over MQTT", requester: anna, isApprover: true, choice: .dataset(.of(7)),
        chosen: .of(7)),
      Choice(testDescription: "a login", requester: anna, choice: .dataset(.of(7)), refusal: .mayNotPrefer),
      Choice(
        testDescription: "a program whose team has a member", requester: machine, choice: .dataset(.of(7)),
        chosen: .of(7)),
      Choice(
        testDescription: "a program whose team has none", requester: .program(of: "bob"), choice: .dataset(.of(7)),
        refusal: .mayNotPrefer),
      Choice(
        testDescription: "a program whose team only names the network's id", requester: .program(of: "bob"),
        before: { $0.announce(4, .of(1, key: 66, at: 9), from: "bob") }, choice: .dataset(.of(7)),
        refusal: .mayNotPrefer),
      Choice(
        testDescription: "a program, of a network that is preferred by its id alone", requester: machine,
        before: {
          $0.publish(.announce, 5) { $0.thread.network = 8 }
          $0.prefer(network: 8)
          $0.announce(1, .of(8), from: "anna")
        }, choice: .dataset(.of(7)), refusal: .mayNotPrefer),
      // By Extended PAN ID.
      Choice(
        testDescription: "the newest of a network", choice: .network(2, router: nil), chosen: .of(2, at: 9),
        source: .record(.router(3))),
      Choice(
        testDescription: "that of a router", choice: .network(2, router: 2), chosen: .of(2, at: 3),
        source: .record(.router(2))),
      Choice(
        testDescription: "that of a router on another network", choice: .network(2, router: 4),
        refusal: .noCredentialsOfRouterForNetwork),
      Choice(
        testDescription: "a network that only another team has, as a program", requester: machine,
        choice: .network(3, router: nil), refusal: .noCredentialsOfNetwork),
      Choice(
        testDescription: "a router of another team, as a program", requester: machine, choice: .network(3, router: 4),
        refusal: .noCredentialsOfRouterForNetwork),
      Choice(
        testDescription: "a network that is nowhere", choice: .network(9, router: nil), refusal: .noCredentialsOfNetwork
      ),
      Choice(
        testDescription: "different keys of a network",
        before: { $0.announce(4, .of(2, key: 66, at: 11), from: "bob") }, choice: .network(2, router: nil),
        refusal: .severalKeys(
          2,
          [
            .init(areCurrent: false, seconds: 9, owners: [.router(2), .router(3)]),
            .init(areCurrent: false, seconds: 11, owners: [.router(4)]),
          ])),
      Choice(
        testDescription: "different keys of a router and of the history",
        before: {
          $0.prefer(.of(2, key: 66))
          $0.prefer(.of(7))
        }, choice: .network(2, router: nil),
        refusal: .severalKeys(
          2,
          [
            .init(areCurrent: false, seconds: 9, owners: [.router(2), .router(3)]),
            .init(areCurrent: false, seconds: 1, owners: [.former(2)]),
          ])),
      Choice(
        testDescription: "different keys of a router and a login that shares them",
        before: { $0.share(.of(2, key: 66)) }, choice: .network(2, router: nil),
        refusal: .severalKeys(
          2,
          [
            .init(areCurrent: false, seconds: 9, owners: [.router(2), .router(3)]),
            .init(areCurrent: false, seconds: 1, owners: [.shared("ha", 2)]),
          ])),
      Choice(
        testDescription: "different keys, by name", before: { $0.announce(4, .of(2, key: 66, at: 11), from: "bob") },
        choice: .name("net-2"),
        refusal: .severalKeys(
          2,
          [
            .init(areCurrent: false, seconds: 9, owners: [.router(2), .router(3)]),
            .init(areCurrent: false, seconds: 11, owners: [.router(4)]),
          ])),
      Choice(
        testDescription: "different keys of others, as a program", requester: machine,
        before: { $0.announce(4, .of(2, key: 66, at: 11), from: "bob") }, choice: .network(2, router: nil),
        chosen: .of(2, at: 9), source: .record(.router(3))),
      Choice(
        testDescription: "different keys, and a router is named",
        before: { $0.announce(4, .of(2, key: 66, at: 11), from: "bob") }, choice: .network(2, router: 4),
        chosen: .of(2, key: 66, at: 11), source: .record(.router(4))),
      Choice(
        testDescription: "a network that was preferred, and no router has",
        before: {
          $0.prefer(.of(7))
          $0.prefer(.of(6))
        }, choice: .network(7, router: nil), chosen: .of(7), source: .record(.former(2))),
      // The preferred one itself.
      Choice(
        testDescription: "new keys that a member claims",
        before: {
          $0.announce(6, .of(1, at: 5), from: "hub")
          $0.announce(1, .of(1, key: 2, at: 8), from: "anna")
        }, choice: .network(1, router: nil),
        refusal: .severalKeys(
          1,
          [
            .init(areCurrent: true, seconds: 5, owners: [.router(6)]),
            .init(areCurrent: false, seconds: 8, owners: [.router(1)]),
          ])),
      Choice(
        testDescription: "new keys that a member claims, and it is named",
        before: {
          $0.announce(6, .of(1, at: 5), from: "hub")
          $0.announce(1, .of(1, key: 2, at: 8), from: "anna")
        }, choice: .network(1, router: 1), chosen: .of(1, key: 2, at: 8), source: .record(.router(1))),
      Choice(
        testDescription: "new keys that a member claims, and the current ones are named",
        before: {
          $0.announce(6, .of(1, at: 5), from: "hub")
          $0.announce(1, .of(1, key: 2, at: 8), from: "anna")
        }, choice: .current, chosen: .of(1, at: 5)),
      Choice(
        testDescription: "new keys that no member claims",
        before: { $0.announce(4, .of(1, key: 66, at: 8), from: "bob") }, choice: .network(1, router: nil),
        refusal: .severalKeys(
          1,
          [
            .init(areCurrent: true, seconds: 5, owners: [.router(1)]),
            .init(areCurrent: false, seconds: 8, owners: [.router(4)]),
          ])),
      Choice(
        testDescription: "keys that it had before", before: { $0.prefer(.of(1, key: 66, at: 6)) },
        choice: .network(1, router: nil),
        refusal: .severalKeys(
          1,
          [
            .init(areCurrent: true, seconds: 6, owners: []),
            .init(areCurrent: false, seconds: 5, owners: [.router(1), .former(1)]),
          ])),
      Choice(
        testDescription: "keys that somebody shares", before: { $0.share(.of(1, key: 66, at: 8)) },
        choice: .network(1, router: nil),
        refusal: .severalKeys(
          1,
          [
            .init(areCurrent: true, seconds: 5, owners: [.router(1)]),
            .init(areCurrent: false, seconds: 8, owners: [.shared("ha", 1)]),
          ])),
      Choice(
        testDescription: "the same keys that somebody shares", before: { $0.share(.of(1, at: 8, channel: 20)) },
        choice: .network(1, router: nil), chosen: .of(1, at: 5)),
      Choice(
        testDescription: "the current ones, as a program", requester: machine, choice: .current, refusal: .mayNotPrefer),
      // By name.
      Choice(testDescription: "a name", choice: .name("net-3"), chosen: .of(3), source: .record(.router(4))),
      Choice(
        testDescription: "a name of the history", before: { $0.prefer(.of(7)) }, choice: .name("net-1"),
        chosen: .of(1, at: 5), source: .record(.router(1))),
      Choice(testDescription: "an unknown name", choice: .name("net"), refusal: .noNetworkOfName),
      Choice(
        testDescription: "a name that only another team has, as a program", requester: machine, choice: .name("net-3"),
        refusal: .noNetworkOfName),
      Choice(
        testDescription: "a name of two networks", before: { $0.announce(4, .of(6, name: "net-2"), from: "bob") },
        choice: .name("net-2"), refusal: .severalOfName([2, 6])),
      // By the id of the history.
      Choice(
        testDescription: "a former network", before: { $0.prefer(.of(7)) }, choice: .former(id: 1),
        chosen: .of(1, at: 5), source: .record(.former(1))),
      Choice(testDescription: "an unknown id", choice: .former(id: 1), refusal: .unknownFormer),
      Choice(
        testDescription: "a former network, as a program", requester: machine,
        before: {
          $0.prefer(.of(7))
          $0.announce(1, .of(7), from: "anna")
        }, choice: .former(id: 1), refusal: .unknownFormer),
      // Only seen.
      Choice(
        testDescription: "a network that a router is on, and nothing is known of",
        before: { $0.publish(.announce, 5) { $0.thread.network = 8 } }, choice: .network(8, router: nil),
        chosen: DatasetSummary(network: 8, name: ""), source: .nothing),
      Choice(
        testDescription: "the same, as a program", requester: machine,
        before: { $0.publish(.announce, 5) { $0.thread.network = 8 } }, choice: .network(8, router: nil),
        refusal: .noCredentialsOfNetwork),
    ]) func choose(_ row: Choice) throws
  {
    var scene = Self.scene()
    row.before(&scene)
    let before = scene.preferred
    let answer = scene.ask(.setPreferred(row.choice), by: row.requester ?? Requester(.systemUser(0), team: "root")) {
      $0.isAdministrator = row.requester == nil
      $0.isApprover = row.isApprover
    }
    guard let chosen = row.chosen else {
      #expect(try answer == .refused(#require(row.refusal)))
      #expect(scene.preferred == before && scene.output.secrets.isEmpty)
      return
    }
    let isChanged = chosen != before
    var keysOf: RecordKey?
    if isChanged, case .record(let key) = row.source { keysOf = key }
    #expect(answer == .preferredSet(isChanged: isChanged, hasCredentials: chosen.hasCredentials, keysOf: keysOf))
    #expect(scene.preferred == chosen)
    #expect(scene.output.types.contains(.preferredChanged) == isChanged)
    guard isChanged else { return }
    #expect(scene.output.secrets.last { $0.to == .home }?.from == row.source)
    #expect(scene.output.audit.contains(.preferredChanged(from: before?.network, to: chosen.network)))
    #expect(scene.home.former.first?.dataset == before)
    // What is kept is read before it is replaced.
    let kept = try #require(scene.home.former.first).id
    #expect(scene.output.secrets.first == SecretMove(to: .former(kept), from: .record(.home)))
  }

  @Test("In a home that had no network anybody may set the first; once it was forgotten, nobody") func first() {
    var scene = HomeScene()
    #expect(
      scene.ask(.setPreferred(.dataset(.of(1))), by: Self.anna) == .preferredSet(isChanged: true, hasCredentials: true))
    scene.command(.forgetPreferred)
    for requester in [Self.anna, Self.machine] {
      #expect(scene.ask(.setPreferred(.dataset(.of(1))), by: requester) == .refused(.mayNotPrefer))
    }
  }

  @Test("The same again changes nothing, and says so to nobody") func same() {
    var scene = Self.scene()
    _ = scene.home.takeChanges()
    #expect(scene.prefer(.of(1, at: 5)) == .preferredSet(isChanged: false, hasCredentials: true))
    #expect(scene.output.events.isEmpty && scene.output.secrets.isEmpty)
    #expect(scene.home.takeChanges().isEmpty)
  }

  @Test("Whose keys were taken is answered only where they have changed") func sameKeys() {
    var scene = Self.scene()
    scene.prefer(.of(1, at: 4, channel: 20))
    #expect(scene.prefer(network: 1) == .preferredSet(isChanged: true, hasCredentials: true))
    #expect(scene.preferred == .of(1, at: 5))
  }

  @Test("The event says who chose, and what has changed") func event() throws {
    var scene = Self.scene()
    func event() throws -> RouterEvent {
      try #require(scene.output.routerEvents.first { $0.types == .preferredChanged })
    }
    scene.ask(.setPreferred(.dataset(.of(1, at: 6, channel: 20))), by: Self.anna) { $0.isApprover = true }
    #expect(try event().user == "anna" && event().differs == .channel)
    #expect(try event().previousNetwork == nil)
    scene.prefer(.of(7))
    #expect(try event().user == nil && event().differs == nil)
    #expect(try event().previousNetwork == 1 && event().network == .init(.of(7)))
    scene.command(.forgetPreferred)
    #expect(try event().previousNetwork == 7 && event().network == nil)
  }

  @Test("A router that has what is chosen is a member from then on, and a claimant no more") func members() {
    var scene = Self.scene()
    scene.announce(6, .of(1, at: 5), from: "hub")
    scene.announce(1, .of(1, key: 2, at: 8), from: "anna")
    #expect(scene.home.isActive(AlertKey(.preferredKeyDisputed)))
    scene.prefer(.of(1, at: 9, channel: 20))
    #expect(!scene.home.isActive(AlertKey(.preferredKeyDisputed)))
    #expect(scene.router(1)?.followsPreferred == false)
    #expect(scene.router(6)?.followsPreferred == true)
    scene.prefer(network: 2)
    #expect(scene.router(3)?.followsPreferred == true && scene.router(6)?.followsPreferred == false)
  }

  // MARK: Forget

  @Test("Forgotten, no network is preferred until a person chooses one, whoever reports what") func forgetPreferred() {
    var scene = Self.scene()
    for requester in [Self.anna, Self.machine] {
      #expect(scene.ask(.forgetPreferred, by: requester) == .refused(.onlyAdministrator))
    }
    let answer = scene.command(.forgetPreferred)
    #expect(answer == .forgotten(scene.home.former, remaining: [], sharedBy: []))
    #expect(scene.home.former.map(\.dataset) == [.of(1, at: 5)])
    #expect(scene.output.secrets.last == SecretMove(to: .home, from: .nothing))
    #expect(scene.command(.forgetPreferred) == .refused(.noPreferred))
    scene.announce(1, .of(1, at: 6), from: "anna")
    scene.ask(.storeCredentials(2, .of(4)), by: Self.machine)
    #expect(scene.home.preferred == nil)
    #expect(
      scene.command(.setPreferred(.name("net-1")))
        == .preferredSet(isChanged: true, hasCredentials: true, keysOf: .router(1)))
  }

  @Test("What the history has of a network is deleted by id or network; the preferred one is not") func forgetNetwork()
  {
    var scene = Self.scene()
    for dataset in [.of(7), .of(7, key: 2), .of(6)] as [DatasetSummary] { scene.prefer(dataset) }
    let former = scene.home.former
    #expect(former.map(\.dataset) == [.of(7, key: 2), .of(7), .of(1, at: 5)])
    for requester in [Self.anna, Self.machine] {
      #expect(scene.ask(.forgetNetwork(.network(7)), by: requester) == .refused(.onlyAdministrator))
    }
    _ = scene.home.takeChanges()
    #expect(scene.command(.forgetNetwork(.network(6))) == .refused(.isPreferred))
    #expect(scene.command(.forgetNetwork(.network(2))) == .refused(.notInHistory(isUsed: true)))
    #expect(scene.command(.forgetNetwork(.former(id: 99))) == .refused(.notInHistory(isUsed: false)))
    #expect(
      scene.command(.forgetNetwork(.network(7))) == .forgotten([former[0], former[1]], remaining: [], sharedBy: []))
    #expect(
      scene.command(.forgetNetwork(.former(id: former[2].id))) == .forgotten([former[2]], remaining: [1], sharedBy: []))
    #expect(scene.home.former.isEmpty)
    #expect(scene.output.audit == [.formerDeleted(1)])
    #expect(Set(scene.home.takeChanges().records) == Set(former.map { .former($0.id) }), "to be deleted")
    #expect(scene.command(.forgetNetwork(.network(1))) == .refused(.notInHistory(isUsed: true)), "routers use it")
  }
}
