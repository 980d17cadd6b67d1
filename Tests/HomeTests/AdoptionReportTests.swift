import Testing

@testable import Home

/// What a router reports that was sent the preferred credentials.
@Suite struct AdoptionReportTests {
  struct Report: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var from = AdoptionState.sent
    let dataset: DatasetSummary
    var reason: AdoptionState?
    var thread = ThreadReport()
    let next: AdoptionState?
    /// What is stored for it then.
    let stored: DatasetSummary
  }

  @Test(
    "A router's own report counts",
    arguments: [
      Report(testDescription: "what it was sent", dataset: .home, next: nil, stored: .home),
      Report(
        testDescription: "what it was sent, with a later time", dataset: .of(1, at: 7), next: nil, stored: .of(1, at: 7)
      ),
      Report(
        testDescription: "what it was sent, after the time is up", from: .timeout, dataset: .home, next: nil,
        stored: .home),
      Report(
        testDescription: "what it was sent, after something else", from: .disagreement, dataset: .home, next: nil,
        stored: .home),
      Report(
        testDescription: "what it was sent, and that it is detached", dataset: .home,
        thread: ThreadReport(state: .detached, network: 1), next: .sent, stored: .home),
      Report(
        testDescription: "what it was sent, and that it is still elsewhere", dataset: .home,
        thread: ThreadReport(state: .router, network: 2), next: .sent, stored: .home),
      Report(
        testDescription: "what it was sent, after the time is up, and that it is detached", from: .timeout,
        dataset: .home, thread: ThreadReport(state: .detached), next: .timeout, stored: .home),
      Report(testDescription: "what it reported before", dataset: .guest, next: .sent, stored: .guest),
      Report(
        testDescription: "what it reported before, with a later time", dataset: .of(2, at: 9), next: .sent,
        stored: .of(2, at: 9)),
      Report(testDescription: "another network", dataset: .of(8), next: .disagreement, stored: .of(8)),
      Report(
        testDescription: "another channel of the same age", dataset: .of(2, channel: 20), next: .disagreement,
        stored: .guest),
      Report(
        testDescription: "what it reported before, after the time is up", from: .timeout, dataset: .guest,
        next: .timeout, stored: .guest),
      Report(
        testDescription: "that a step was refused", dataset: .guest, reason: .refused, next: .refused, stored: .guest),
      Report(
        testDescription: "another network, and that a step was not answered", dataset: .of(8), reason: .noAnswer,
        next: .noAnswer, stored: .of(8)),
      Report(
        testDescription: "what it was sent, and that it was not attached in time", dataset: .home, reason: .notAttached,
        thread: ThreadReport(state: .detached), next: .notAttached, stored: .home),
      Report(
        testDescription: "that a change is pending, while there is time", dataset: .guest, reason: .pendingChange,
        next: .sent, stored: .guest),
      Report(
        testDescription: "another reason, after the time is up", from: .timeout, dataset: .guest, reason: .refused,
        next: .timeout, stored: .guest),
    ]) func report(_ row: Report) throws
  {
    var scene = try HomeScene(in: row.from)
    scene.publish(.dataset, 1, from: "anna") {
      $0.dataset = row.dataset
      $0.adoptionFailure = row.reason
      $0.thread = row.thread
    }
    #expect(scene.state == row.next && scene.dataset == row.stored)
    #expect(scene.preferred?.network == 1)
    let failure = scene.alert(.adoptionFailed, 1)
    #expect((failure?.phase == .firing) == (row.next?.hasFailed == true))
    if let next = row.next, next.hasFailed {
      #expect(failure?.facts.message == .adoptionFailed(next, isConfiguredForPreferred: row.stored == .home))
      // No person is asked about just that again.
      scene.live(600)
      #expect(scene.state == next && scene.waiting.isEmpty)
    }
  }

  @Test("Only in its last minute that a change is pending is final; until then it is sent again") func pendingChange()
    throws
  {
    var scene = try HomeScene(in: .asked)
    scene.rules.settings.adoptTimeout = 900
    scene.approve()
    scene.live(1)
    scene.handle(.delivered(message: try #require(scene.terms?.message)))
    func holdUp(_ scene: inout HomeScene) {
      scene.publish(.dataset, 1, from: "anna") {
        $0.dataset = .guest
        $0.adoptionFailure = .pendingChange
      }
    }
    for count in 1...2 {
      scene.live(290)
      holdUp(&scene)
      #expect(scene.state == .sent)
      scene.live(11)
      #expect(scene.sent.count == count + 1, "an envelope lives 300 seconds")
    }
    scene.live(250)
    holdUp(&scene)
    #expect(scene.state == .pendingChange)
  }

  @Test("Configured is not attached: a heartbeat that it is attached ends the mismatch, also late") func attached()
    throws
  {
    for isLate in [false, true] {
      var scene = try HomeScene(in: .sent)
      scene.publish(.dataset, 1, from: "anna") {
        $0.dataset = .home
        $0.thread = ThreadReport(state: .detached, network: 1)
      }
      let router = try #require(scene.router(1))
      #expect(scene.home.verdict(of: router) == .mismatch([]))
      #expect(scene.alert(.preferredNetworkMismatch, 1)?.facts.message == .notAttached)
      if isLate { scene.live(301) }
      #expect(scene.state == (isLate ? .timeout : .sent))
      scene.publish(.heartbeat, 1, from: "anna") { $0.thread = ThreadReport(state: .child, network: 1) }
      #expect(scene.state == nil && scene.routerAlerts.isEmpty)
      #expect(scene.router(1).map(scene.home.verdict(of:)) == .match)
    }
  }

  @Test("Configured and not attached, it is on the preferred network once its login has no key") func keyEnds() throws {
    var scene = try HomeScene(in: .sent)
    scene.announce(1, .of(1, at: 5), from: "anna") { $0.thread.state = .detached }
    #expect(scene.state == .sent && scene.verdict(of: 1) == .mismatch([]))
    scene.revoke("anna", forgets: true)
    scene.live(1)
    #expect(scene.state == nil && scene.verdict(of: 1) == .match)
    #expect(scene.alarms.allSatisfy { $0.name == .routerDetached })
  }

  @Test("How far an adoption is, and that it has failed, is in the alert of the mismatch") func underWay() throws {
    for (state, shown) in [
      (AdoptionState.asked, AdoptionState.asked), (.agreed, .agreed), (.sent, .agreed), (.denied, .denied),
      (.timeout, .timeout),
    ] as [(AdoptionState, AdoptionState?)] {
      let scene = try HomeScene(in: state)
      #expect(scene.alert(.preferredNetworkMismatch, 1)?.facts.adoption == shown)
    }
  }

  // MARK: A member, and a person who sets an older dataset of its network

  private static let chosen = DatasetSummary.of(1, at: 3, channel: 20)

  private func member() throws -> HomeScene {
    var scene = HomeScene.adopting()
    scene.report(.of(1, at: 5))
    scene.prefer(Self.chosen)
    scene.live(31)
    // Router 2 is one as well.
    let question = try #require(scene.waiting.first { $0.subject.router?.agent == 1 })
    scene.decide(.approve(question.id, .once))
    scene.live(1)
    #expect(scene.state == .sent)
    return scene
  }

  @Test("What else a member reports than what it was sent moves no preferred network") func memberDisagrees() throws {
    var scene = try member()
    for seconds in [12, 13] as [UInt64] {
      scene.report(.of(1, at: seconds, channel: 11))
      #expect(scene.state == .disagreement)
      #expect(scene.dataset == .of(1, at: seconds, channel: 11))
      #expect(scene.preferred == Self.chosen)
    }
    scene.report(Self.chosen)
    #expect(scene.state == nil && scene.dataset == Self.chosen, "however old it is")
  }

  @Test("Once it is on the preferred network, it moves it as any member") func memberLeadsAgain() throws {
    var scene = try member()
    scene.report(.of(1, at: 14, channel: 20))
    #expect(scene.state == nil)
    #expect(scene.preferred == .of(1, at: 14, channel: 20))
    scene.report(.of(1, at: 15, channel: 11))
    #expect(scene.preferred == .of(1, at: 15, channel: 11))
  }
}
