import Testing
import ThreadDataset

@testable import Home

/// What a team stores, deletes and gets of its own, and who may be given what others have.
@Suite struct CredentialRequestTests {
  private static let anna = Requester.login("anna")
  private static let bob = Requester.login("bob")
  private static let machine = Requester.program(of: "anna")

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
      Stored(testDescription: "the first", stored: nil, incoming: .of(2), change: .store, types: .datasetStored),
      Stored(testDescription: "the same bytes", incoming: .of(2, at: 5), change: .keep, types: []),
      Stored(
        testDescription: "newer", incoming: .of(2, at: 6, channel: 20), change: .update(.channel),
        types: .datasetUpdated),
      Stored(testDescription: "older", incoming: .of(2, at: 3), change: .update([]), types: .datasetUpdated),
      Stored(
        testDescription: "of the same age, and different", incoming: .of(2, at: 5, channel: 20),
        change: .update(.channel), types: .datasetUpdated),
      Stored(
        testDescription: "another network", incoming: .of(3, at: 1),
        change: .move(from: 2, [.extendedPANID, .networkName]), types: .datasetUpdated),
    ]) func store(_ row: Stored) throws
  {
    for isListed in [true, false] {
      var scene = HomeScene()
      scene.announce(9, .of(1), from: "hub")
      if isListed { scene.announce(1, row.stored, from: "anna") }
      if !isListed, let stored = row.stored { scene.ask(.storeCredentials(1, stored), by: Self.anna) }
      _ = scene.home.takeChanges()
      let answer = scene.ask(.storeCredentials(1, row.incoming), by: Self.anna)
      #expect(answer == .stored(row.change, preferred: answer.flatMap(Self.check) ?? .none))
      #expect(answer.flatMap(Self.check)?.isMismatch == true)
      #expect(scene.output.types(of: 1) == row.types)
      let router = try #require(scene.router(1))
      #expect(router.dataset == row.incoming && router.isPresent == isListed)
      #expect(router.owner == "anna" && router.user == "anna" && router.credential == .stored)
      let isChange = row.change != .keep
      #expect(scene.output.secrets == (isChange ? [SecretMove(to: .router(1), from: .input)] : []))
      #expect(scene.output.audit == (isChange ? [.credentialsStored(1, row.change)] : []))
      #expect(scene.home.takeChanges().records.contains(.router(1)) || !isChange)
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
      Moved(testDescription: "another channel, later", incoming: .of(1, at: 6, channel: 20), moves: true),
      Moved(testDescription: "another channel, earlier", incoming: .of(1, at: 4, channel: 20), moves: false),
      Moved(testDescription: "another network", incoming: .of(2, at: 9), moves: false),
      Moved(
        testDescription: "other keys, which the other member has not", incoming: .of(1, key: 2, at: 9), moves: false),
      Moved(
        testDescription: "another network, on the machine", requester: machine, incoming: .of(2, at: 1), moves: true),
      Moved(
        testDescription: "earlier, on the machine", requester: machine, incoming: .of(1, at: 1, channel: 20),
        moves: true),
      Moved(
        testDescription: "on the machine, of a router that is no member", requester: machine, stored: .of(3),
        incoming: .of(2), moves: false),
      Moved(
        testDescription: "on the machine, the id with other keys", requester: machine, stored: nil,
        incoming: .of(1, key: 2, at: 9), moves: false),
    ]) func moves(_ row: Moved)
  {
    var scene = HomeScene()
    scene.announce(9, .of(1, at: 5), from: "hub")
    if let stored = row.stored { scene.announce(1, stored, from: "anna") }
    scene.ask(.storeCredentials(1, row.incoming), by: row.requester)
    #expect(scene.preferred == (row.moves ? row.incoming : .of(1, at: 5)))
    #expect(scene.output.types.contains(.preferredChanged) == row.moves)
    #expect(scene.output.secrets.contains(SecretMove(to: .home, from: .input)) == row.moves)
  }

  @Test("The first network that is stored is preferred; a router that comes later shows what is") func first() throws {
    var scene = HomeScene()
    #expect(scene.ask(.storeCredentials(1, .of(1)), by: Self.anna) == .stored(.store, preferred: .match))
    #expect(scene.preferred == .of(1))
    scene.announce(1, from: "anna")
    #expect(scene.router(1)?.credential == .stored && scene.router(1)?.isPresent == true)
    #expect(try scene.home.verdict(of: #require(scene.router(1))) == .match)
  }

  @Test("Who may not store: another team, and one too far ahead") func refused() {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "anna")
    scene.publish(.leave, 1, from: "anna")
    #expect(scene.ask(.storeCredentials(1, .of(1)), by: Self.bob) == .refused(.ofAnotherTeam(1)), "also after it left")
    scene.announce(2, .of(1), from: "bob")
    let ahead = DatasetSummary.of(1, at: scene.now.seconds + 366 * 86_400)
    #expect(scene.ask(.storeCredentials(2, ahead), by: Self.bob) == .refused(.tooFarAhead))
    #expect(scene.output.secrets.isEmpty && scene.router(2)?.dataset == .of(1))
    // A person, and a program of this machine, choose any.
    scene.ask(.storeCredentials(2, ahead), by: .program(of: "bob"))
    #expect(scene.router(2)?.dataset == ahead)
  }

  @Test("Logins of one team share what they store") func teams() {
    var scene = HomeScene { $0.team = { $0 == "anna" || $0 == "ben" ? "family" : $0 } }
    scene.announce(2, .of(1), from: "anna")
    let ben = Requester(.login("ben"), team: "family")
    #expect(scene.ask(.storeCredentials(2, .of(2)), by: ben)?.isRefused == false)
    #expect(scene.ask(.deleteCredentials(2), by: ben) == .deleted)
  }

  @Test(
    "Whoever sends a dataset in plaintext is named, whatever becomes of the request",
    arguments: [HomeRequest.storeCredentials(1, .of(2)), .checkPreferred(.of(2)), .setPreferred(.dataset(.of(2)))])
  func plaintext(_ request: HomeRequest) {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1), from: "hub") { $0.signature = nil }
    for (requester, isSigned) in [(Self.bob, true), (Self.machine, false), (Self.bob, false)] {
      scene.ask(request, by: requester) { $0.isSigned = isSigned }
      let isNamed = requester == Self.bob && !isSigned
      #expect(scene.firing.contains(AlertKey(.plaintextCredentials, .user("bob"))) == isNamed)
    }
  }

  // MARK: Delete

  @Test("Deleted: the router stays and its credentials are missing; the preferred network stays") func delete() throws {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1), from: "anna")
    #expect(scene.ask(.deleteCredentials(1), by: Self.bob)?.isRefused == true)
    #expect(scene.ask(.deleteCredentials(1), by: Self.anna) == .deleted)
    #expect(scene.output.secrets == [SecretMove(to: .router(1), from: .nothing)])
    #expect(scene.output.audit == [.credentialsDeleted(1)])
    let router = try #require(scene.router(1))
    #expect(router.isPresent && router.credential == .missing && router.owner == "anna")
    #expect(scene.firing.contains(AlertKey(.credentialsMissing, .router(1))))
    #expect(scene.preferred == .of(1))
    for agent: BorderAgentID in [1, 7] {
      #expect(scene.ask(.deleteCredentials(agent), by: Self.anna) == .refused(.noCredentials(agent)))
      #expect(scene.output.secrets.isEmpty && scene.output.audit.isEmpty)
    }
    #expect(
      scene.ask(.storeCredentials(1, .of(2)), by: Self.bob) == .refused(.ofAnotherTeam(1)),
      "the id continues to belong to its team")
    // The daemon's own user may delete what any team has stored.
    scene.ask(.storeCredentials(5, .of(2)), by: Self.anna)
    #expect(scene.command(.deleteCredentials(5)) == .deleted)
    #expect(scene.router(5)?.dataset == nil && scene.router(5)?.owner == "anna")
  }

  @Test("What does not open and is given up is missing: of a router, of the network, of a former one") func lost()
    throws
  {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1), from: "anna")
    scene.announce(2, .of(2), from: "anna")
    scene.prefer(network: 2)
    let former = try #require(scene.home.former.first)
    _ = scene.home.takeChanges()

    scene.handle(.secretLost(.former(former.id)))
    #expect(scene.home.former.isEmpty)
    #expect(scene.output.audit == [.formerDeleted(former.dataset.network)])

    scene.handle(.secretLost(.home))
    #expect(scene.output.secrets == [SecretMove(to: .home, from: .nothing)])
    let preferred = try #require(scene.preferred)
    #expect(preferred == DatasetSummary(network: 2, name: DatasetSummary.of(2).name))
    #expect(!preferred.hasCredentials && scene.home.former.isEmpty)
    // As any network that is preferred by its id alone: a router reports keys, and a person vouches for them.
    scene.publish(.dataset, 2, from: "anna") { $0.dataset = .of(2, at: 9) }
    #expect(scene.preferred?.hasCredentials == false)
    scene.command(.setPreferred(.network(2, router: 2)))
    #expect(scene.preferred == .of(2, at: 9))

    scene.handle(.secretLost(.router(1)))
    #expect(scene.output.secrets == [SecretMove(to: .router(1), from: .nothing)])
    #expect(scene.output.audit == [.credentialsDeleted(1)])
    let router = try #require(scene.router(1))
    #expect(router.isPresent && router.credential == .missing && router.owner == "anna")
    let keys: [RecordKey] = [.former(former.id), .home, .router(1)]
    let records = scene.home.takeChanges().records
    #expect(keys.allSatisfy { records.contains($0) })

    // Nothing is lost where there was no secret, and the record is written again.
    scene.handle(.secretLost(.router(1)))
    #expect(scene.output.secrets.isEmpty && scene.output.audit.isEmpty)
    #expect(scene.home.takeChanges().records.contains(.router(1)))
  }

  // MARK: Get and list

  @Test("A team gets what it has stored, with its dates; what another has is not there") func get() throws {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "anna")
    let created = scene.now
    scene.wait(seconds: 60)
    scene.publish(.dataset, 1, from: "anna") { $0.dataset = .of(1, at: 2) }
    guard case .credentials(let found) = scene.ask(.getCredentials(1), by: Self.anna) else { throw Missing() }
    let one = try #require(found.first)
    #expect(found.count == 1 && one.agent == 1 && one.dataset == .of(1, at: 2))
    #expect(one.createdAt == created && one.changedAt == scene.now && one.isActive)
    #expect(one.secret == .router(1))
    #expect(scene.ask(.getCredentials(1), by: Self.bob) == .refused(.noCredentials(1)))
    for agent: BorderAgentID in [1, 2] {
      let answer = scene.ask(.getCredentials(agent), by: Self.anna) { $0.canReceiveSecrets = false }
      #expect(answer == .refused(.noKey), "whether it is there or not")
    }
  }

  @Test("What a record that cannot be read may be of is damaged, and not said to be missing") func damage() {
    typealias Row = (request: HomeRequest, sound: HomeAnswer, isOfRouter: Bool)
    let missing = HomeAnswer.refused(.noCredentials(1))
    let rows: [Row] = [
      (.isPreferredAvailable, .available(false), false), (.checkPreferred(.of(1)), .checked(.none), false),
      (.getPreferred, .refused(.noPreferred), false), (.getCredentials(1), missing, true),
      (.deleteCredentials(1), missing, true), (.getNetwork(1), .refused(.noCredentialsOfNetwork), true),
    ]
    for row in rows {
      var scene = HomeScene()
      #expect(scene.ask(row.request, by: Self.anna) == row.sound, "\(row.request)")
      scene.home.hasDamage = true
      let answer = scene.ask(row.request, by: Self.anna)
      #expect(answer == (row.isOfRouter ? row.sound : .refused(.damaged)), "\(row.request)")
      scene.home.hasLostCredentials = true
      #expect(scene.ask(row.request, by: Self.anna) == .refused(.damaged), "\(row.request)")
      let list = scene.ask(.listCredentials(onlyActive: false), by: Self.anna)
      #expect(list == .credentials([]))
      // Whose it is remains unsaid.
      if row.isOfRouter {
        var other = scene
        other.announce(1, .of(2), from: "bob")
        let foreign = other.ask(row.request, by: Self.anna)
        let isDelete = row.request == .deleteCredentials(1)
        #expect(foreign == .refused(isDelete ? .ofAnotherTeam(1) : .damaged))
      }
      scene.announce(1, .of(1), from: "anna")
      scene.prefer(.of(1))
      var found = scene
      #expect(found.ask(row.request, by: Self.anna) != .refused(.damaged), "\(row.request)")
      scene.command(.forgetPreferred)
      #expect(scene.ask(row.request, by: Self.anna) != .refused(.damaged), "\(row.request)")
    }
  }

  @Test("A list has the own team's and nobody else's; active are those that can be reached") func list() {
    var scene = HomeScene()
    scene.announce(1...3, .of(1), from: "anna")
    scene.announce(4, .of(1), from: "bob")
    scene.publish(.offline, 2, from: "anna")
    scene.ask(.storeCredentials(5, .of(1)), by: Self.anna)
    scene.ask(.deleteCredentials(3), by: Self.anna)
    func agents(_ onlyActive: Bool, most: Int? = nil) -> [BorderAgentID?]? {
      let answer = scene.ask(.listCredentials(onlyActive: onlyActive), by: Self.anna) {
        $0.canReceiveSecrets = false
        $0.mostCredentials = most
      }
      if case .credentials(let found) = answer { return found.map(\.agent) }
      return answer == .refused(.tooMany(most ?? 0)) ? nil : []
    }
    #expect(agents(false, most: 3) == [1, 2, 5])
    #expect(agents(true) == [1])
    #expect(agents(false, most: 2) == nil)
  }

  // MARK: What others have, once a person agrees

  private func given(_ scene: inout HomeScene, _ request: HomeRequest) -> [StoredCredentials]? {
    guard case .credentials(let given) = scene.agreed(request, by: Self.machine) else { return nil }
    return given
  }

  @Test("The preferred network comes with a router that runs on it: active, then of the own team") func preferred() {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "hub")
    scene.announce(2, .of(1), from: "anna")
    scene.announce(3, .of(1), from: "hub")
    scene.announce(4, .of(1, channel: 20), from: "anna")
    #expect(given(&scene, .getPreferred)?.map(\.agent) == [2])
    scene.publish(.offline, 2, from: "anna")
    #expect(given(&scene, .getPreferred)?.map(\.agent) == [1])
    for agent: BorderAgentID in [1, 2, 3] { scene.command(.deleteCredentials(agent)) }
    let given = given(&scene, .getPreferred)
    #expect(given?.map(\.agent) == [nil] && given?.map(\.isActive) == [false])
    #expect(given?.map(\.dataset) == [.of(1)] && given?.map(\.secret) == [.home])
  }

  @Test("Of a network the newest is given; who only names the preferred one's id is not believed") func network() {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "hub")
    scene.announce(2, .of(2), from: "anna")
    scene.announce(3, .of(2, at: 4), from: "bob")
    scene.announce(4, .of(1, key: 66, at: 99), from: "evil")
    #expect(given(&scene, .getNetwork(2))?.map(\.agent) == [3])
    #expect(given(&scene, .getNetwork(1))?.map(\.dataset) == [.of(1)])
    #expect(given(&scene, .nearbyNetworks)?.map(\.agent) == [1, 2, 3])
  }

  @Test("A question about a router's network gives nothing once the router is another team's") func handedOver() {
    var scene = HomeScene()
    scene.announce(1, .of(1), from: "hub")
    scene.announce(2, .of(2), from: "anna")
    scene.rules.isAwaited = { _ in true }
    scene.ask(.getNetwork(2), by: Self.machine)
    scene.handle(.remove(2))
    scene.announce(2, .of(2), from: "bert")
    if let asked = scene.home.questions.first { scene.decide(.approve(asked.id, .once)) }
    #expect(scene.output.settled.map(\.answer) == [.refused(.changed)])
    #expect(scene.home.decisions.last?.obstacle == .changed)
    #expect(scene.ask(.getCredentials(2), by: Self.anna) == .refused(.noCredentials(2)))
  }

  @Test("Agreement to one team's network gives nothing that another has stored under its id") func namesake() {
    for name in ["evil-lab", "net-2"] {
      var scene = HomeScene()
      scene.announce(1, .of(1), from: "hub")
      scene.announce(2, .of(2), from: "bob")
      scene.announce(3, .of(2, key: 66, at: 99, name: name), from: "evil")
      scene.enroll("evil")
      scene.ask(.getNetwork(2), by: .login("evil")) {
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

extension HomeAnswer { fileprivate var isRefused: Bool { if case .refused = self { true } else { false } } }
