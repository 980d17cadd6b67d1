import Testing

@testable import Home

@Suite("Datasets that are not complete") struct PartialDatasetTests {
  private static let partial = DatasetSummary.partial(1)

  private func announce(_ agent: UInt64, _ dataset: DatasetSummary, in scene: inout HomeScene) -> HomeOutput {
    scene.announce(agent, dataset) { $0.lacks = dataset.lacks }
  }

  @Test("One is kept for its router, not preferred, and takes the place of none that is complete") func router() throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    let stored = [SecretMove(to: .router(.number(1)), from: .input)]
    #expect(announce(1, Self.partial, in: &scene).secrets == stored)
    #expect(scene.router(1)?.dataset == Self.partial && scene.router(1)?.credential == .partial)
    #expect(scene.router(1)?.owner == "otbr" && scene.preferred == nil)
    let facts = try #require(scene.alert(.credentialsMissing, 1)?.facts)
    #expect(facts.otherNames.first == Self.partial.lacks.map(\.name))
    #expect(announce(1, Self.partial, in: &scene).secrets.isEmpty)

    #expect(scene.announce(1, .of(1)).secrets.contains(stored[0]))
    #expect(scene.router(1)?.credential == .stored && scene.preferred == .of(1))
    #expect(!scene.alarms.contains(.of(.credentialsMissing, 1)))
    for later in [Self.partial, .partial(1, at: 9), .partial(2)] {
      #expect(announce(1, later, in: &scene).secrets.isEmpty)
      #expect(scene.router(1)?.dataset == .of(1) && scene.router(1)?.credential == .stored)
      #expect(scene.preferred == .of(1) && scene.alarms.contains(.of(.credentialsMissing, 1)))
    }
  }

  @Test("A router with one is on the preferred network, and no member that could move it") func member() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1))
    for (dataset, verdict) in [
      (Self.partial, PreferredCheck.match), (.partial(1, at: 9), .match),
      (.partial(1, at: 9, channel: 20), .mismatch(.channel)), (.partial(1, key: 2, at: 10), .mismatch(.networkKey)),
    ] {
      _ = announce(2, dataset, in: &scene)
      #expect(scene.verdict(of: 2) == verdict && scene.router(2)?.dataset == dataset)
      #expect(scene.router(2)?.followsPreferred == false && scene.preferred == .of(1))
      #expect(!scene.alarms.contains(.of(.preferredKeyDisputed)))
    }
  }

  @Test("A person prefers its network by the Extended PAN ID alone, and not with it") func choice() {
    var scene = HomeScene()
    _ = announce(1, Self.partial, in: &scene)
    #expect(
      scene.command(.setPreferred(.network(1, router: .number(1))))
        == .refused(.partialCredentials(.number(1), Self.partial.lacks)))
    #expect(scene.prefer(network: 1) == .preferredSet(isChanged: true, hasCredentials: false))
    #expect(scene.preferred == DatasetSummary(network: 1, name: "net-1"))
    // Nor do two of them confirm each other.
    _ = scene.announce(2, Self.partial, from: "other") { $0.lacks = Self.partial.lacks }
    #expect(scene.preferred?.hasCredentials == false)
  }

  @Test("A router with one on another network is asked about, and given the preferred credentials") func adoption() {
    var scene = HomeScene { $0.settings.adoptTimeout = 300 }
    scene.announce(2, .home, from: "hub")
    scene.enroll("anna")
    scene.announce(1, .partial(2), from: "anna") { $0.lacks = DatasetSummary.partial(2).lacks }
    scene.live(31)
    #expect(scene.state == .asked)
    scene.approve()
    scene.live(1)
    #expect(scene.sent.map(\.dataset) == [.home])
    scene.announce(1, .home, from: "anna")
    #expect(scene.state == nil && scene.router(1)?.dataset == .home)
    #expect(scene.router(1)?.credential == .stored && scene.router(1)?.lacks == [])
  }

  @Test("Of a network it is given where no complete one is there") func given() {
    var scene = HomeScene()
    scene.announce(9, .of(9))
    for network in [UInt64(2), 3] { _ = announce(network, .partial(network, key: 7, at: 9), in: &scene) }
    scene.announce(4, .of(2))
    for (network, given) in [(UInt64(2), DatasetSummary.of(2)), (3, .partial(3, key: 7))] {
      scene.ask(.getNetwork(.number(network)))
      #expect(scene.waiting.last?.subject.networks == [ConsentNetwork(given, of: "otbr")])
    }
  }

  @Test("One that is shared is kept for programs, and its network is preferred by its id alone") func shared() throws {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    let output = scene.share(Self.partial, isPreferred: true) { $0.lacks = Self.partial.lacks }
    #expect(output.secrets == [SecretMove(to: .shared("ha", 1), from: .input), SecretMove(to: .home, from: .nothing)])
    #expect(scene.preferred == DatasetSummary(network: 1, name: "net-1"))
    let missing = AlertKey(.credentialsMissing, .network(1))
    #expect(scene.home.alerts[missing]?.facts.message == .sharedPartial)
    #expect(scene.accept() != .preferredSet(isChanged: true, hasCredentials: true))
    scene.ask(.getNetwork(1))
    #expect(scene.waiting.last?.subject.networks == [ConsentNetwork(Self.partial, of: "ha")])
  }
}
