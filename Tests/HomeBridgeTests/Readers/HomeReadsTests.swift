// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset
import ThreadRequests

@testable import Home
@testable import HomeBridge

@Suite("Reads without the loop")
struct HomeReadsTests {
  private static let agent = BorderAgentID(high: 1, low: 0)

  /// A home that prefers network 1; router 1 is of the team otbr, router 2 of the team hub.
  private func scene() -> PublishingScene {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(1), from: "otbr")
    scene.publish(.announce, 2, .of(2), from: "hub")
    scene.publish(.announce, 3, .of(3), from: "otbr")
    scene.publish(.offline, 3, from: "otbr")
    return scene
  }

  private func context(
    _ team: ExactName = "otbr", _ identity: Requester.Identity = .systemUser(1_000)
  ) -> RequestContext {
    RequestContext(Requester(identity, team: team), reply: .caller, actor: "uid 1000")
  }

  private static let readOnly: [HomeRequest] = [
    .getCredentials(agent), .listCredentials(onlyActive: false), .listCredentials(onlyActive: true),
    .isPreferredAvailable, .checkPreferred(.of(1)), .checkPreferred(.of(2)), .pendingQuestions,
  ]

  @Test("What is read is what the home answers, and nothing follows from it", arguments: readOnly)
  func reads(request: HomeRequest) {
    let scene = scene()
    for team: ExactName in ["otbr", "hub", "nobody"] {
      var home = scene.home
      _ = home.takeChanges()
      let read = home.answer(
        reading: request, context(team), at: scene.now, rules: scene.rules)
      let output = home.handle(
        .request(request, context(team)), at: scene.now, rules: scene.rules)
      #expect(read != nil && read == output.answer)
      var quiet = output
      quiet.answer = nil
      #expect(quiet == HomeOutput() && home.takeChanges().isEmpty)
    }
  }

  private static let changing: [HomeRequest] = [
    .storeCredentials(agent, .of(1)), .deleteCredentials(agent),
    .setPreferred(.dataset(.of(2))), .forgetPreferred, .forgetNetwork(.former(id: 1)),
    .getPreferred, .getNetwork(.init(number: 2)), .nearbyNetworks,
  ]

  @Test("What changes something, or needs a person, is left to the loop", arguments: changing)
  func others(request: HomeRequest) {
    let scene = scene()
    #expect(
      scene.home.answer(reading: request, context(), at: scene.now, rules: scene.rules) == nil)
  }

  @Test(
    "A dataset that came in plaintext over the broker is left to the loop, which raises an alert")
  func plaintext() {
    let scene = scene()
    var context = context("otbr", .login("otbr"))
    #expect(
      scene.home.answer(
        reading: .checkPreferred(.of(1)), context, at: scene.now, rules: scene.rules) == nil)
    context.isSigned = true
    #expect(
      scene.home.answer(
        reading: .checkPreferred(.of(1)), context, at: scene.now, rules: scene.rules)
        == .checked(.match))
  }

  @Test("A team sees its own credentials, and no others")
  func visibility() {
    let scene = scene()
    func answer(_ request: HomeRequest, _ team: ExactName) -> HomeAnswer? {
      scene.home.answer(reading: request, context(team), at: scene.now, rules: scene.rules)
    }
    func networks(_ answer: HomeAnswer?) -> [String] {
      guard case .credentials(let found) = answer else { return [] }
      return found.map(\.dataset.name)
    }
    #expect(networks(answer(.listCredentials(onlyActive: false), "otbr")) == ["net-1", "net-3"])
    #expect(networks(answer(.listCredentials(onlyActive: true), "otbr")) == ["net-1"])
    #expect(networks(answer(.getCredentials(Self.agent), "otbr")) == ["net-1"])
    #expect(answer(.getCredentials(Self.agent), "hub") == .refused(.noCredentials(Self.agent)))
  }

  @Test(
    "A program's reads are answered with secrets, states and the time; the rest is left to the loop"
  )
  func reader() throws {
    var scene = try RequestScene()
    let own = try OperationalDataset.sample(1)
    _ = try scene.call(.storeCredentials) {
      $0.agent = Self.agent
      $0.dataset = own
    }
    func answer(_ command: RequestCommand, mostEntries: Int = 10) throws -> AnswerData? {
      var request = ThreadRequest(command)
      request.agent = Self.agent
      request.dataset = own
      request.network = own.extendedPANID
      let context = LocalRequest(request, user: 1_000, team: "bob").context
      let handler = try scene.rules.handler(of: request, context, buttonsAltered: false) {
        $0.summary
      }
      var reader = HomeReader(scene.home, scene.homeRules, scene.writer, version: "1.0")
      reader.mostEntries = mostEntries
      return try reader.answer(
        AskedRequest.Step(request: request, context: context, by: handler), at: scene.now)
    }
    #expect(try answer(.ping)?.version == "1.0")
    #expect(try answer(.getCredentials)?.credentials?.first?.dataset == own)
    #expect(try answer(.listCredentials)?.credentials?.map(\.dataset) == [own])
    #expect(try answer(.listActiveCredentials)?.credentials == [])
    #expect(try answer(.isPreferredAvailable)?.available == true)
    #expect(try answer(.checkPreferred)?.result == .match)
    #expect(try answer(.pendingConsents)?.pending == [])
    #expect(try answer(.listNetworks)?.networks?.count == 1)
    #expect(throws: AnswerFailure.self) { try answer(.listNetworks, mostEntries: 0) }
    for command: RequestCommand in [
      .storeCredentials, .deleteCredentials, .getPreferred, .getNetwork, .nearbyNetworks,
    ] {
      #expect(try answer(command) == nil)
    }
  }

  @Test("Owners are those of ids, also of routers that left")
  func owners() {
    var scene = scene()
    scene.publish(.announce, 4, from: "visitor")
    scene.publish(.leave, 2, from: "hub")
    #expect(scene.home.owners.map(\.team) == ["otbr", "hub", "otbr"])
    #expect(scene.home.owners.map(\.user) == ["otbr", "hub", "otbr"])
    #expect(scene.home.users == ["otbr", "hub", "visitor"])
  }

  @Test(
    "Of a network that is preferred by its id alone, those are named who report its credentials")
  func reporters() {
    var scene = scene()
    #expect(scene.home.unconfirmedReporters.isEmpty)
    var seen = Advertisement([.init(high: 9, low: 1)])
    seen?.network = .init(number: 7)
    if let seen { scene.handle(.sightings(Sightings([seen]))) }
    var context = context()
    context.isAdministrator = true
    scene.handle(.request(.setPreferred(.network(.init(number: 7), router: nil)), context))
    #expect(scene.home.unconfirmedReporters.isEmpty)
    scene.publish(.announce, 1, .of(7), from: "otbr")
    #expect(scene.home.unconfirmedReporters == [Self.agent])
  }
}
