// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// What a team stores, deletes and gets of its own, and who may be given what others have.
@Suite struct CredentialRequestTests {
  private static let anna = HomeScene.requester("anna")
  private static let bob = HomeScene.requester("bob")
  private static let machine = HomeScene.requester("anna", onMachine: true)

  // MARK: Store

  struct Stored: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var stored: DatasetSummary? = .of(2, at: 5)
    let incoming: DatasetSummary
    let change: DatasetDecision
    let types: RouterEvent.Types
  }

  @Test(
    "What is stored by request replaces what is there: it says what holds now",
    arguments: [
      Stored(
        testDescription: "the first", stored: nil, incoming: .of(2), change: .store,
        types: .datasetStored),
      Stored(
        testDescription: "the same bytes", incoming: .of(2, at: 5), change: .keep, types: []),
      Stored(
        testDescription: "newer", incoming: .of(2, at: 6, channel: 20), change: .update(.channel),
        types: .datasetUpdated),
      Stored(
        testDescription: "older", incoming: .of(2, at: 3), change: .update([]),
        types: .datasetUpdated),
      Stored(
        testDescription: "of the same age, and different", incoming: .of(2, at: 5, channel: 20),
        change: .update(.channel), types: .datasetUpdated),
      Stored(
        testDescription: "another network", incoming: .of(3, at: 1),
        change: .move(from: .number(2), [.extendedPANID, .networkName]), types: .datasetUpdated),
    ])
  func store(_ row: Stored) throws {
    for isListed in [true, false] {
      var scene = HomeScene()
      scene.announce(9, .of(1), from: "hub")
      if isListed { scene.announce(1, row.stored, from: "anna") }
      if !isListed, let stored = row.stored {
        scene.ask(.storeCredentials(.number(1), stored), by: Self.anna)
      }
      _ = scene.home.takeChanges()
      let answer = scene.ask(.storeCredentials(.number(1), row.incoming), by: Self.anna)
      #expect(answer == .stored(row.change, preferred: answer.flatMap(Self.check) ?? .none))
      #expect(answer.flatMap(Self.check)?.isMismatch == true)
      #expect(scene.output.types(of: 1) == row.types)
      let router = try #require(scene.router(1))
      #expect(router.dataset == row.incoming && router.isPresent == isListed)
      #expect(router.owner == "anna" && router.user == "anna" && router.credential == .stored)
      let isChange = row.change != .keep
      #expect(
        scene.output.secrets
          == (isChange ? [SecretMove(to: .router(.number(1)), from: .input)] : []))
      #expect(
        scene.output.audit == (isChange ? [.credentialsStored(.number(1), row.change)] : []))
      #expect(scene.home.takeChanges().records.contains(.router(.number(1))) || !isChange)
    }
  }

  private static func check(_ answer: HomeAnswer) -> PreferredCheck? {
    if case .stored(_, let check) = answer { check } else { nil }
  }

  struct Moved: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var requester = CredentialRequestTests.anna
    /// What the requester's router has before.
    var stored: DatasetSummary? = .of(1, at: 5)
    let incoming: DatasetSummary
    let moves: Bool
  }

  @Test(
    "Whether the preferred network follows: over MQTT as with an event, on the machine anywhere",
    arguments: [
      Moved(
        testDescription: "another channel, later", incoming: .of(1, at: 6, channel: 20), moves: true
      ),
      Moved(
        testDescription: "another channel, earlier", incoming: .of(1, at: 4, channel: 20),
        moves: false),
      Moved(testDescription: "another network", incoming: .of(2, at: 9), moves: false),
      Moved(
        testDescription: "other keys, which the other member has not",
        incoming: .of(1, key: 2, at: 9), moves: false),
      Moved(
        testDescription: "another network, on the machine", requester: machine,
        incoming: .of(2, at: 1), moves: true),
      Moved(
        testDescription: "earlier, on the machine", requester: machine,
        incoming: .of(1, at: 1, channel: 20), moves: true),
      Moved(
        testDescription: "on the machine, of a router that is no member", requester: machine,
        stored: .of(3), incoming: .of(2), moves: false),
      Moved(
        testDescription: "on the machine, the id with other keys", requester: machine, stored: nil,
        incoming: .of(1, key: 2, at: 9), moves: false),
    ])
  func moves(_ row: Moved) {
    var scene = HomeScene()
    scene.announce(9, .of(1, at: 5), from: "hub")
    if let stored = row.stored { scene.announce(1, stored, from: "anna") }
    scene.ask(.storeCredentials(.number(1), row.incoming), by: row.requester)
    #expect(scene.home.preferred?.dataset == (row.moves ? row.incoming : .of(1, at: 5)))
    #expect(scene.output.types.contains(.preferredChanged) == row.moves)
    #expect(
      scene.output.secrets.contains(SecretMove(to: .home, from: .input)) == row.moves)
  }

  @Test("The first network that is stored is preferred; a router that comes later shows what is")
  func first() throws {
    var scene = HomeScene()
    #expect(
      scene.ask(.storeCredentials(.number(1), .of(1)), by: Self.anna)
        == .stored(.store, preferred: .match))
    #expect(scene.home.preferred?.dataset == .of(1))
    scene.announce(1, from: "anna")
    #expect(scene.router(1)?.credential == .stored && scene.router(1)?.isPresent == true)
    #expect(try scene.home.verdict(of: #require(scene.router(1))) == .match)
  }

  @Test("Who may not store: another team, one at its limit, one too far ahead")
  func refused() {
    var scene = HomeScene { $0.routersPerTeam = 2 }
    scene.announce(1, .of(1), from: "anna")
    scene.publish(.leave, 1, from: "anna")
    #expect(
      scene.ask(.storeCredentials(.number(1), .of(1)), by: Self.bob)
        == .refused(.ofAnotherTeam(.number(1))), "also after it left")
    scene.announce(2, .of(1), from: "bob")
    scene.ask(.storeCredentials(.number(3), .of(1)), by: Self.bob)
    #expect(
      scene.ask(.storeCredentials(.number(4), .of(1)), by: Self.bob)
        == .refused(.tooManyRouters(2)))
    let ahead = DatasetSummary.of(1, at: scene.now.seconds + 366 * 86_400)
    #expect(
      scene.ask(.storeCredentials(.number(2), ahead), by: Self.bob) == .refused(.tooFarAhead))
    #expect(scene.output.secrets.isEmpty && scene.router(2)?.dataset == .of(1))
    // A person, and a program of this machine, choose any.
    scene.ask(.storeCredentials(.number(2), ahead), by: HomeScene.requester("bob", onMachine: true))
    #expect(scene.router(2)?.dataset == ahead)
  }

  @Test("Teams are compared byte by byte, and logins of one team share what they store")
  func teams() {
    var scene = HomeScene { $0.team = { $0 == "anna" || $0 == "ben" ? "family" : $0 } }
    scene.announce(1, .of(1), from: "caf\u{E9}")
    #expect(
      scene.ask(.deleteCredentials(.number(1)), by: HomeScene.requester("cafe\u{301}"))
        == .refused(.ofAnotherTeam(.number(1))))
    scene.announce(2, .of(1), from: "anna")
    let ben = Requester(.login("ben"), team: "family")
    #expect(
      scene.ask(.storeCredentials(.number(2), .of(2)), by: ben)?.isRefused == false)
    #expect(scene.ask(.deleteCredentials(.number(2)), by: ben) == .deleted)
  }

  @Test(
    "Whoever sends a dataset in plaintext is named, whatever becomes of the request",
    arguments: [
      HomeRequest.storeCredentials(.number(1), .of(2)), .checkPreferred(.of(2)),
      .setPreferred(.dataset(.of(2))),
    ])
  func plaintext(_ request: HomeRequest) {
    var scene = HomeScene { $0.alertsHold = 0 }
    scene.announce(1, .of(1), from: "hub") { $0.signature = nil }
    for (requester, isSigned) in [(Self.bob, true), (Self.machine, false), (Self.bob, false)] {
      scene.ask(request, by: requester) { $0.isSigned = isSigned }
      let isNamed = requester == Self.bob && !isSigned
      #expect(
        scene.firing.contains(AlertKey(.plaintextCredentials, .user("bob"))) == isNamed)
    }
  }

  // MARK: Delete

  @Test("Deleted: the router stays and its credentials are missing; the preferred network stays")
  func delete() throws {
    var scene = HomeScene { $0.alertsHold = 0 }
    scene.announce(1, .of(1), from: "anna")
    #expect(scene.ask(.deleteCredentials(.number(1)), by: Self.bob)?.isRefused == true)
    #expect(scene.ask(.deleteCredentials(.number(1)), by: Self.anna) == .deleted)
    #expect(scene.output.secrets == [SecretMove(to: .router(.number(1)), from: .nothing)])
    #expect(scene.output.audit == [.credentialsDeleted(.number(1))])
    let router = try #require(scene.router(1))
    #expect(router.isPresent && router.credential == .missing && router.owner == "anna")
    #expect(scene.firing.contains(AlertKey(.credentialsMissing, .router(.number(1)))))
    #expect(scene.home.preferred?.dataset == .of(1))
    for agent in [1, 7] as [UInt64] {
      #expect(
        scene.ask(.deleteCredentials(.number(agent)), by: Self.anna)
          == .refused(.noCredentials(.number(agent))))
      #expect(scene.output.secrets.isEmpty && scene.output.audit.isEmpty)
    }
    #expect(
      scene.ask(.storeCredentials(.number(1), .of(2)), by: Self.bob)
        == .refused(.ofAnotherTeam(.number(1))), "the id continues to belong to its team")
    // The daemon's own user may delete what any team has stored.
    scene.ask(.storeCredentials(.number(5), .of(2)), by: Self.anna)
    #expect(scene.command(.deleteCredentials(.number(5))) == .deleted)
    #expect(scene.router(5)?.dataset == nil && scene.router(5)?.owner == "anna")
  }

  @Test(
    "What does not open and is given up is missing: of a router, of the network, of a former one")
  func lost() throws {
    var scene = HomeScene { $0.alertsHold = 0 }
    scene.announce(1, .of(1), from: "anna")
    scene.announce(2, .of(2), from: "anna")
    scene.command(.setPreferred(.network(.number(2), router: nil)))
    let former = try #require(scene.home.former.first)
    _ = scene.home.takeChanges()

    scene.handle(.secretLost(.former(former.id)))
    #expect(scene.home.former.isEmpty)
    #expect(scene.output.audit == [.formerDeleted(former.dataset.network)])

    scene.handle(.secretLost(.home))
    #expect(scene.output.secrets == [SecretMove(to: .home, from: .nothing)])
    let preferred = try #require(scene.home.preferred?.dataset)
    #expect(preferred == DatasetSummary(network: .number(2), name: DatasetSummary.of(2).name))
    #expect(!preferred.hasCredentials && scene.home.former.isEmpty)
    // As any network that is preferred by its id alone: a router reports keys, and a person vouches for them.
    scene.publish(.dataset, 2, from: "anna") { $0.dataset = .of(2, at: 9) }
    #expect(scene.home.preferred?.dataset.hasCredentials == false)
    scene.command(.setPreferred(.network(.number(2), router: .number(2))))
    #expect(scene.home.preferred?.dataset == .of(2, at: 9))

    scene.handle(.secretLost(.router(.number(1))))
    #expect(scene.output.secrets == [SecretMove(to: .router(.number(1)), from: .nothing)])
    #expect(scene.output.audit == [.credentialsDeleted(.number(1))])
    let router = try #require(scene.router(1))
    #expect(router.isPresent && router.credential == .missing && router.owner == "anna")
    let keys: [RecordKey] = [.former(former.id), .home, .router(.number(1))]
    let records = scene.home.takeChanges().records
    #expect(keys.allSatisfy { records.contains($0) })

    // Nothing is lost where there was no secret, and the record is written again.
    scene.handle(.secretLost(.router(.number(1))))
    #expect(scene.output.secrets.isEmpty && scene.output.audit.isEmpty)
    #expect(scene.home.takeChanges().records.contains(.router(.number(1))))
  }

  // MARK: Get and list

  @Test("A team gets what it has stored, with its dates; what another has is not there")
  func get() throws {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "anna")
    let created = scene.now
    scene.wait(seconds: 60)
    scene.publish(.dataset, 1, from: "anna") { $0.dataset = .of(1, at: 2) }
    guard case .credentials(let found) = scene.ask(.getCredentials(.number(1)), by: Self.anna)
    else { throw Missing() }
    let one = try #require(found.first)
    #expect(found.count == 1 && one.agent == .number(1) && one.dataset == .of(1, at: 2))
    #expect(one.createdAt == created && one.changedAt == scene.now && one.isActive)
    #expect(one.secret == .router(.number(1)))
    #expect(
      scene.ask(.getCredentials(.number(1)), by: Self.bob)
        == .refused(.noCredentials(.number(1))))
    for agent in [1, 2] as [UInt64] {
      let answer = scene.ask(.getCredentials(.number(agent)), by: Self.anna) {
        $0.canReceiveSecrets = false
      }
      #expect(answer == .refused(.noKey), "whether it is there or not")
    }
  }

  @Test("What a record that cannot be read may be of is damaged, and not said to be missing")
  func damage() {
    typealias Row = (request: HomeRequest, sound: HomeAnswer, isOfRouter: Bool)
    let missing = HomeAnswer.refused(.noCredentials(.number(1)))
    let rows: [Row] = [
      (.isPreferredAvailable, .available(false), false),
      (.checkPreferred(.of(1)), .checked(.none), false),
      (.getPreferred, .refused(.noPreferred), false), (.getCredentials(.number(1)), missing, true),
      (.deleteCredentials(.number(1)), missing, true),
      (.getNetwork(.number(1)), .refused(.noCredentialsOfNetwork), true),
    ]
    for row in rows {
      var scene = HomeScene()
      #expect(scene.ask(row.request, by: Self.anna) == row.sound, "\(row.request)")
      scene.home.hasDamage = true
      let answer = scene.ask(row.request, by: Self.anna)
      #expect(answer == (row.isOfRouter ? row.sound : .refused(.damaged)), "\(row.request)")
      scene.home.hasLostCredentials = true
      #expect(scene.ask(row.request, by: Self.anna) == .refused(.damaged), "\(row.request)")
      // Whose it is remains unsaid.
      if row.isOfRouter {
        var other = scene
        other.announce(1, .of(2), from: "bob")
        let foreign = other.ask(row.request, by: Self.anna)
        let isDelete = row.request == .deleteCredentials(.number(1))
        #expect(foreign == .refused(isDelete ? .ofAnotherTeam(.number(1)) : .damaged))
      }
      scene.announce(1, .of(1), from: "anna")
      scene.command(.setPreferred(.dataset(.of(1))))
      var found = scene
      #expect(found.ask(row.request, by: Self.anna) != .refused(.damaged), "\(row.request)")
      scene.command(.forgetPreferred)
      #expect(scene.ask(row.request, by: Self.anna) != .refused(.damaged), "\(row.request)")
    }
  }

  @Test("A list has the own team's and nobody else's; active are those that can be reached")
  func list() {
    var scene = HomeScene()
    for agent in 1...3 as ClosedRange<UInt64> { scene.announce(agent, .of(1), from: "anna") }
    scene.announce(4, .of(1), from: "bob")
    scene.publish(.offline, 2, from: "anna")
    scene.ask(.storeCredentials(.number(5), .of(1)), by: Self.anna)
    scene.ask(.deleteCredentials(.number(3)), by: Self.anna)
    func agents(_ onlyActive: Bool, most: Int? = nil) -> [BorderAgentID?]? {
      let answer = scene.ask(.listCredentials(onlyActive: onlyActive), by: Self.anna) {
        $0.canReceiveSecrets = false
        $0.mostCredentials = most
      }
      if case .credentials(let found) = answer { return found.map(\.agent) }
      return answer == .refused(.tooMany(most ?? 0)) ? nil : []
    }
    #expect(agents(false, most: 3) == [.number(1), .number(2), .number(5)])
    #expect(agents(true) == [.number(1)])
    #expect(agents(false, most: 2) == nil)
  }

  // MARK: What others have, once a person agrees

  private func agreed(_ scene: inout HomeScene, _ request: HomeRequest) -> [StoredCredentials]? {
    scene.rules.isAwaited = { _ in true }
    scene.ask(request, by: Self.machine)
    guard let question = scene.home.questions.first else { return nil }
    scene.decide(.approve(question.id, .once))
    guard case .credentials(let given) = scene.output.settled.first?.answer else { return nil }
    return given
  }

  @Test("The preferred network comes with a router that runs on it: active, then of the own team")
  func preferred() {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "hub")
    scene.announce(2, .of(1), from: "anna")
    scene.announce(3, .of(1), from: "hub")
    scene.announce(4, .of(1, channel: 20), from: "anna")
    #expect(agreed(&scene, .getPreferred)?.map(\.agent) == [.number(2)])
    scene.publish(.offline, 2, from: "anna")
    #expect(agreed(&scene, .getPreferred)?.map(\.agent) == [.number(1)])
    for agent in 1...3 as ClosedRange<UInt64> { scene.command(.deleteCredentials(.number(agent))) }
    let given = agreed(&scene, .getPreferred)
    #expect(given?.map(\.agent) == [nil] && given?.map(\.isActive) == [false])
    #expect(given?.map(\.dataset) == [.of(1)] && given?.map(\.secret) == [.home])
  }

  @Test("Of a network the newest is given; who only names the preferred one's id is not believed")
  func network() {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "hub")
    scene.announce(2, .of(2), from: "anna")
    scene.announce(3, .of(2, at: 4), from: "bob")
    scene.announce(4, .of(1, key: 66, at: 99), from: "evil")
    #expect(agreed(&scene, .getNetwork(.number(2)))?.map(\.agent) == [.number(3)])
    #expect(agreed(&scene, .getNetwork(.number(1)))?.map(\.dataset) == [.of(1)])
    #expect(
      agreed(&scene, .nearbyNetworks)?.map(\.agent) == [.number(1), .number(2), .number(3)])
  }

  @Test("A question about a router's network gives nothing once the router is another team's")
  func handedOver() {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "hub")
    scene.announce(2, .of(2), from: "anna")
    scene.rules.isAwaited = { _ in true }
    scene.ask(.getNetwork(.number(2)), by: Self.machine)
    scene.handle(.remove(.number(2)))
    scene.announce(2, .of(2), from: "bert")
    if let asked = scene.home.questions.first { scene.decide(.approve(asked.id, .once)) }
    #expect(scene.output.settled.map(\.answer) == [.refused(.changed)])
    #expect(scene.home.decisions.last?.obstacle == .changed)
    #expect(
      scene.ask(.getCredentials(.number(2)), by: Self.anna)
        == .refused(.noCredentials(.number(2))))
  }

  @Test("Agreement to one team's network gives nothing that another has stored under its id")
  func namesake() {
    for name in ["evil-lab", "net-2"] {
      var scene = HomeScene()
      scene.announce(1, .of(1), from: "hub")
      scene.announce(2, .of(2), from: "bob")
      scene.announce(3, .of(2, key: 66, at: 99, name: name), from: "evil")
      scene.enroll("evil")
      scene.ask(.getNetwork(.number(2)), by: HomeScene.requester("evil")) {
        $0.reply = .topic("out/evil", correlation: nil, transaction: nil)
      }
      let asked = scene.home.questions.first
      #expect(asked?.subject.networks.map(\.team) == ["evil"])
      scene.publish(.leave, 3, from: "evil")
      if let asked { scene.decide(.approve(asked.id, .once)) }
      #expect(scene.output.settled.map(\.answer) == [.refused(.changed)])
    }
  }
}

extension HomeAnswer {
  fileprivate var isRefused: Bool { if case .refused = self { true } else { false } }
}
