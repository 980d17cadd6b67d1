import Testing

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Lists of all homes") struct ConsentListsTests {
  /// Two homes in which users 1 to 4 ask by turns, a second apart.
  private func scenes() -> (scenes: [PublishingScene], ids: [ConsentID]) {
    var scenes = [PublishingScene(), PublishingScene()]
    var ids: [ConsentID] = []
    for index in scenes.indices { scenes[index].publish(.announce, 1, .of(1)) }
    for user in 1...UInt32(4) {
      let index = Int(user) % 2
      scenes[0].now = scenes[0].now.adding(seconds: 1)
      scenes[1].now = scenes[0].now
      let context = RequestContext(Requester(.systemUser(user), team: "team"), reply: .caller, actor: "uid \(user)")
      if case .waiting(let id) = scenes[index].handle(.request(.getPreferred, context)).answer { ids.append(id) }
    }
    return (scenes, ids)
  }

  private func snapshot(_ scenes: [PublishingScene]) -> HomeSnapshot {
    HomeSnapshot(homes: ["a": scenes[0].home, "b": scenes[1].home])
  }

  private func users(_ requesters: [Requester]) -> [UInt32] {
    requesters.compactMap { if case .systemUser(let user) = $0.identity { user } else { nil } }
  }

  @Test("Questions of all homes come oldest first, without those that are denied or over") func questions() {
    var (scenes, ids) = scenes()
    func waiting() -> [UInt32] { users(snapshot(scenes).waitingQuestions(at: scenes[0].now).map(\.value.requester)) }
    #expect(waiting() == [1, 2, 3, 4])
    #expect(snapshot(scenes).waitingQuestions(at: scenes[0].now).map(\.home) == ["b", "a", "b", "a"])
    scenes[1].decide(.deny(ids[0]))
    #expect(waiting() == [2, 3, 4])
    scenes[0].now = scenes[0].now.adding(seconds: ConsentQuestion.timeout - 2)
    #expect(waiting() == [3, 4])
  }

  @Test("Grants come oldest first, decisions newest first, and each decision is another revision") func decided() {
    var (scenes, ids) = scenes()
    var revisions: Set<String> = [snapshot(scenes).revision]
    for (offset, id) in ids.enumerated() {
      let index = (offset + 1) % 2
      for scene in scenes.indices { scenes[scene].now = scenes[scene].now.adding(seconds: 1) }
      let what: ConsentDecision.What = offset == 2 ? .deny(id) : .approve(id, .always)
      scenes[index].decide(what)
      revisions.insert(snapshot(scenes).revision)
    }
    let snapshot = snapshot(scenes)
    #expect(revisions.count == 5)
    #expect(users(snapshot.grants.map(\.value.requester)) == [1, 2, 4])
    #expect(users(snapshot.decisions(limit: .max).map(\.value.requester)) == [4, 3, 2, 1])
    #expect(users(snapshot.decisions(limit: 3).map(\.value.requester)) == [4, 3, 2])
    #expect(snapshot.decisions(limit: 1).map(\.home) == ["a"])
  }

  @Test("A grant covers nothing any more once the preferred network has another key") func outdated() throws {
    var (scenes, ids) = scenes()
    scenes[1].decide(.approve(ids[0], .always))
    let grant = scenes[1].home.grants[0]
    #expect(!grant.isOutdated(preferred: .of(1)))
    #expect(!grant.isOutdated(preferred: .of(2)))
    #expect(grant.isOutdated(preferred: .of(1, key: 2)))
    // What a team has stored under the same Extended PAN ID is not the preferred network's.
    scenes[1].publish(.announce, 2, .of(2))
    let context = RequestContext(Requester(.systemUser(9), team: "team"), reply: .caller, actor: "uid 9")
    scenes[1].handle(.request(.getNetwork(.init(number: 2)), context))
    let id = try #require(scenes[1].home.questions.last?.id)
    scenes[1].decide(.approve(id, .always))
    #expect(!scenes[1].home.grants[1].isOutdated(preferred: .of(2, key: 2)))
  }

  @Test("Clients are listed by home and name") func clients() {
    var (scenes, _) = scenes()
    for user: ExactName in ["b", "c", "a"] { scenes[0].enroll(user) }
    scenes[1].enroll("d")
    let snapshot = snapshot(scenes)
    #expect(snapshot.clients(in: nil).map(\.value.user.text) == ["a", "b", "c", "d"])
    #expect(snapshot.clients(in: nil).map(\.home) == ["a", "a", "a", "b"])
    #expect(snapshot.clients(in: "b").map(\.value.user.text) == ["d"])
  }
}

@Suite("Whose things are") struct HomeOwnersTests {
  /// A home that prefers network 1; router 1 is of the team otbr, router 2 of the team hub.
  private func scene() -> PublishingScene {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(1), from: "otbr")
    scene.publish(.announce, 2, .of(2), from: "hub")
    scene.publish(.announce, 3, .of(3), from: "otbr")
    scene.publish(.offline, 3, from: "otbr")
    return scene
  }

  @Test("Owners are those of ids, also of routers that left") func owners() {
    var scene = scene()
    scene.publish(.announce, 4, from: "visitor")
    scene.publish(.leave, 2, from: "hub")
    #expect(scene.home.owners.map(\.team) == ["otbr", "hub", "otbr"])
    #expect(scene.home.owners.map(\.user) == ["otbr", "hub", "otbr"])
    #expect(scene.home.users == ["otbr", "hub", "visitor"])
  }

  @Test("Of a network that is preferred by its id alone, those are named who report its credentials") func reporters() {
    var scene = scene()
    #expect(scene.home.unconfirmedReporters.isEmpty)
    scene.prefer(seen: 7)
    #expect(scene.home.unconfirmedReporters.isEmpty)
    scene.publish(.announce, 1, .of(7), from: "otbr")
    #expect(scene.home.unconfirmedReporters == [.number(1)])
  }
}
