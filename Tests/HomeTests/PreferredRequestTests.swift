import Testing

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

    init(
      _ description: String, by requester: Requester? = nil, isApprover: Bool = false,
      _ choice: HomeRequest.PreferredChoice, chosen: DatasetSummary? = nil, source: SecretMove.Source = .input,
      refusal: HomeRefusal? = nil, after before: @escaping @Sendable (inout HomeScene) -> Void = { _ in }
    ) {
      testDescription = description
      (self.requester, self.isApprover, self.before, self.choice) = (requester, isApprover, before, choice)
      (self.chosen, self.source, self.refusal) = (chosen, source, refusal)
    }
  }

  /// Bob has other keys of network 2.
  @Sendable private static func rekey(_ scene: inout HomeScene) {
    scene.announce(4, .of(2, key: 66, at: 11), from: "bob")
  }

  /// A member reports new keys of network 1, which another one has not.
  @Sendable private static func claim(_ scene: inout HomeScene) {
    scene.announce(6, .of(1, at: 5), from: "hub")
    scene.announce(1, .of(1, key: 2, at: 8), from: "anna")
  }

  private static func keys(_ seconds: UInt64, of owners: RecordKey..., areCurrent: Bool = false)
    -> HomeRefusal.KnownKeys
  { .init(areCurrent: areCurrent, seconds: seconds, owners: owners) }

  @Test(
    "What may be chosen, by whom",
    arguments: [
      // By dataset.
      Choice("a dataset that nobody has", .dataset(.of(7)), chosen: .of(7)),
      Choice("an approver over MQTT", by: anna, isApprover: true, .dataset(.of(7)), chosen: .of(7)),
      Choice("a login", by: anna, .dataset(.of(7)), refusal: .mayNotPrefer),
      Choice("a program whose team has a member", by: machine, .dataset(.of(7)), chosen: .of(7)),
      Choice("a program whose team has none", by: .program(of: "bob"), .dataset(.of(7)), refusal: .mayNotPrefer),
      Choice(
        "a program whose team only names the network's id", by: .program(of: "bob"), .dataset(.of(7)),
        refusal: .mayNotPrefer
      ) { $0.announce(4, .of(1, key: 66, at: 9), from: "bob") },
      Choice(
        "a program, of a network that is preferred by its id alone", by: machine, .dataset(.of(7)),
        refusal: .mayNotPrefer
      ) {
        $0.publish(.announce, 5) { $0.thread.network = 8 }
        $0.prefer(network: 8)
        $0.announce(1, .of(8), from: "anna")
      },
      // By Extended PAN ID.
      Choice("the newest of a network", .network(2, router: nil), chosen: .of(2, at: 9), source: .record(.router(3))),
      Choice("that of a router", .network(2, router: 2), chosen: .of(2, at: 3), source: .record(.router(2))),
      Choice("that of a router on another network", .network(2, router: 4), refusal: .noCredentialsOfRouterForNetwork),
      Choice(
        "a network that only another team has, as a program", by: machine, .network(3, router: nil),
        refusal: .noCredentialsOfNetwork),
      Choice(
        "a router of another team, as a program", by: machine, .network(3, router: 4),
        refusal: .noCredentialsOfRouterForNetwork),
      Choice("a network that is nowhere", .network(9, router: nil), refusal: .noCredentialsOfNetwork),
      Choice(
        "different keys of a network", .network(2, router: nil),
        refusal: .severalKeys(2, [keys(9, of: .router(2), .router(3)), keys(11, of: .router(4))]), after: rekey),
      Choice(
        "different keys of a router and of the history", .network(2, router: nil),
        refusal: .severalKeys(2, [keys(9, of: .router(2), .router(3)), keys(1, of: .former(2))])
      ) {
        $0.prefer(.of(2, key: 66))
        $0.prefer(.of(7))
      },
      Choice(
        "different keys of a router and a login that shares them", .network(2, router: nil),
        refusal: .severalKeys(2, [keys(9, of: .router(2), .router(3)), keys(1, of: .shared("ha", 2))])
      ) { $0.share(.of(2, key: 66)) },
      Choice(
        "different keys, by name", .name("net-2"),
        refusal: .severalKeys(2, [keys(9, of: .router(2), .router(3)), keys(11, of: .router(4))]), after: rekey),
      Choice(
        "different keys of others, as a program", by: machine, .network(2, router: nil), chosen: .of(2, at: 9),
        source: .record(.router(3)), after: rekey),
      Choice(
        "different keys, and a router is named", .network(2, router: 4), chosen: .of(2, key: 66, at: 11),
        source: .record(.router(4)), after: rekey),
      Choice(
        "a network that was preferred, and no router has", .network(7, router: nil), chosen: .of(7),
        source: .record(.former(2))
      ) {
        $0.prefer(.of(7))
        $0.prefer(.of(6))
      },
      // The preferred one itself.
      Choice(
        "new keys that a member claims", .network(1, router: nil),
        refusal: .severalKeys(1, [keys(5, of: .router(6), areCurrent: true), keys(8, of: .router(1))]), after: claim),
      Choice(
        "new keys that a member claims, and it is named", .network(1, router: 1), chosen: .of(1, key: 2, at: 8),
        source: .record(.router(1)), after: claim),
      Choice(
        "new keys that a member claims, and the current ones are named", .current, chosen: .of(1, at: 5), after: claim),
      Choice(
        "new keys that no member claims", .network(1, router: nil),
        refusal: .severalKeys(1, [keys(5, of: .router(1), areCurrent: true), keys(8, of: .router(4))])
      ) { $0.announce(4, .of(1, key: 66, at: 8), from: "bob") },
      Choice(
        "keys that it had before", .network(1, router: nil),
        refusal: .severalKeys(1, [keys(6, areCurrent: true), keys(5, of: .router(1), .former(1))])
      ) { $0.prefer(.of(1, key: 66, at: 6)) },
      Choice(
        "keys that somebody shares", .network(1, router: nil),
        refusal: .severalKeys(1, [keys(5, of: .router(1), areCurrent: true), keys(8, of: .shared("ha", 1))])
      ) { $0.share(.of(1, key: 66, at: 8)) },
      Choice("the same keys that somebody shares", .network(1, router: nil), chosen: .of(1, at: 5)) {
        $0.share(.of(1, at: 8, channel: 20))
      }, Choice("the current ones, as a program", by: machine, .current, refusal: .mayNotPrefer),
      // By name.
      Choice("a name", .name("net-3"), chosen: .of(3), source: .record(.router(4))),
      Choice("a name of the history", .name("net-1"), chosen: .of(1, at: 5), source: .record(.router(1))) {
        $0.prefer(.of(7))
      }, Choice("an unknown name", .name("net"), refusal: .noNetworkOfName),
      Choice("a name that only another team has, as a program", by: machine, .name("net-3"), refusal: .noNetworkOfName),
      Choice("a name of two networks", .name("net-2"), refusal: .severalOfName([2, 6])) {
        $0.announce(4, .of(6, name: "net-2"), from: "bob")
      },
      // By the id of the history.
      Choice("a former network", .former(id: 1), chosen: .of(1, at: 5), source: .record(.former(1))) {
        $0.prefer(.of(7))
      }, Choice("an unknown id", .former(id: 1), refusal: .unknownFormer),
      Choice("a former network, as a program", by: machine, .former(id: 1), refusal: .unknownFormer) {
        $0.prefer(.of(7))
        $0.announce(1, .of(7), from: "anna")
      },
      // Only seen.
      Choice(
        "a network that a router is on, and nothing is known of", .network(8, router: nil),
        chosen: DatasetSummary(network: 8, name: ""), source: .nothing
      ) { $0.publish(.announce, 5) { $0.thread.network = 8 } },
      Choice("the same, as a program", by: machine, .network(8, router: nil), refusal: .noCredentialsOfNetwork) {
        $0.publish(.announce, 5) { $0.thread.network = 8 }
      },
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
