// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

/// What a router reports that was sent the preferred credentials.
@Suite struct AdoptionReportTests {
  private static let home = DatasetSummary.of(1, at: 5)
  private static let guest = DatasetSummary.of(2)

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
      Report(testDescription: "what it was sent", dataset: home, next: nil, stored: home),
      Report(
        testDescription: "what it was sent, with a later time", dataset: .of(1, at: 7), next: nil,
        stored: .of(1, at: 7)),
      Report(
        testDescription: "what it was sent, after the time is up", from: .timeout, dataset: home,
        next: nil, stored: home),
      Report(
        testDescription: "what it was sent, after something else", from: .disagreement,
        dataset: home, next: nil, stored: home),
      Report(
        testDescription: "what it was sent, and that it is detached", dataset: home,
        thread: ThreadReport(state: .detached, network: .number(1)), next: .sent, stored: home),
      Report(
        testDescription: "what it was sent, and that it is still elsewhere", dataset: home,
        thread: ThreadReport(state: .router, network: .number(2)), next: .sent, stored: home),
      Report(
        testDescription: "what it was sent, after the time is up, and that it is detached",
        from: .timeout, dataset: home, thread: ThreadReport(state: .detached), next: .timeout,
        stored: home),
      Report(
        testDescription: "what it reported before", dataset: guest, next: .sent, stored: guest),
      Report(
        testDescription: "what it reported before, with a later time", dataset: .of(2, at: 9),
        next: .sent, stored: .of(2, at: 9)),
      Report(
        testDescription: "another network", dataset: .of(8), next: .disagreement, stored: .of(8)),
      Report(
        testDescription: "another channel of the same age", dataset: .of(2, channel: 20),
        next: .disagreement, stored: guest),
      Report(
        testDescription: "what it reported before, after the time is up", from: .timeout,
        dataset: guest, next: .timeout, stored: guest),
      Report(
        testDescription: "that a step was refused", dataset: guest, reason: .refused,
        next: .refused, stored: guest),
      Report(
        testDescription: "another network, and that a step was not answered", dataset: .of(8),
        reason: .noAnswer, next: .noAnswer, stored: .of(8)),
      Report(
        testDescription: "what it was sent, and that it was not attached in time", dataset: home,
        reason: .notAttached, thread: ThreadReport(state: .detached), next: .notAttached,
        stored: home),
      Report(
        testDescription: "that a change is pending, while there is time", dataset: guest,
        reason: .pendingChange, next: .sent, stored: guest),
      Report(
        testDescription: "another reason, after the time is up", from: .timeout, dataset: guest,
        reason: .refused, next: .timeout, stored: guest),
    ])
  func report(_ row: Report) throws {
    var scene = try AdoptionScene(in: row.from)
    scene.scene.publish(.dataset, 1, from: "anna") {
      $0.dataset = row.dataset
      $0.adoptionFailure = row.reason
      $0.thread = row.thread
    }
    #expect(scene.state == row.next && scene.dataset == row.stored)
    #expect(scene.scene.home.preferred?.dataset.network == .number(1))
    let failure = scene.scene.alert(.adoptionFailed, 1)
    #expect((failure?.phase == .firing) == (row.next?.hasFailed == true))
    if let next = row.next, next.hasFailed {
      #expect(
        failure?.facts.message
          == .adoptionFailed(next, isConfiguredForPreferred: row.stored == Self.home))
      // No person is asked about just that again.
      scene.pass(600)
      #expect(scene.state == next && scene.waiting.isEmpty)
    }
  }

  @Test("Only in its last minute that a change is pending is final; until then it is sent again")
  func pendingChange() throws {
    var scene = try AdoptionScene(in: .asked)
    scene.scene.rules.adoptTimeout = 900
    scene.approve()
    scene.pass(1)
    scene.scene.handle(.delivered(message: try #require(scene.terms?.message)))
    func holdUp(_ scene: inout AdoptionScene) {
      scene.scene.publish(.dataset, 1, from: "anna") {
        $0.dataset = Self.guest
        $0.adoptionFailure = .pendingChange
      }
    }
    for count in 1...2 {
      scene.pass(290)
      holdUp(&scene)
      #expect(scene.state == .sent)
      scene.pass(11)
      #expect(scene.sent.count == count + 1, "an envelope lives 300 seconds")
    }
    scene.pass(250)
    holdUp(&scene)
    #expect(scene.state == .pendingChange)
  }

  @Test("Configured is not attached: a heartbeat that it is attached ends the mismatch, also late")
  func attached() throws {
    for isLate in [false, true] {
      var scene = try AdoptionScene(in: .sent)
      scene.scene.publish(.dataset, 1, from: "anna") {
        $0.dataset = Self.home
        $0.thread = ThreadReport(state: .detached, network: .number(1))
      }
      let router = try #require(scene.scene.router(1))
      #expect(scene.scene.home.verdict(of: router) == .mismatch([]))
      #expect(scene.scene.alert(.preferredNetworkMismatch, 1)?.facts.message == .notAttached)
      if isLate { scene.pass(301) }
      #expect(scene.state == (isLate ? .timeout : .sent))
      scene.scene.publish(.heartbeat, 1, from: "anna") {
        $0.thread = ThreadReport(state: .child, network: .number(1))
      }
      #expect(scene.state == nil && scene.firing.isEmpty)
      #expect(scene.scene.router(1).map(scene.scene.home.verdict(of:)) == .match)
    }
  }

  @Test("Configured and not attached, it is on the preferred network once its login has no key")
  func keyEnds() throws {
    var scene = try AdoptionScene(in: .sent)
    scene.scene.announce(1, .of(1, at: 5), from: "anna") { $0.thread.state = .detached }
    #expect(scene.state == .sent && scene.scene.verdict(of: 1) == .mismatch([]))
    scene.scene.handle(.revoke("anna", forgets: true, by: .commandLine(user: 0)))
    scene.pass(1)
    #expect(scene.state == nil && scene.scene.verdict(of: 1) == .match)
    #expect(scene.scene.alarms.allSatisfy { $0.name == .routerDetached })
  }

  @Test("While it is agreed to and under way, the alert of the mismatch says so")
  func underWay() throws {
    for (state, shown) in [
      (AdoptionState.asked, AdoptionState.asked), (.agreed, .agreed), (.sent, .agreed),
      (.denied, nil), (.timeout, nil),
    ] as [(AdoptionState, AdoptionState?)] {
      let scene = try AdoptionScene(in: state)
      #expect(scene.scene.alert(.preferredNetworkMismatch, 1)?.facts.adoption == shown)
    }
  }

  // MARK: A member, and a person who sets an older dataset of its network

  private static let chosen = DatasetSummary.of(1, at: 3, channel: 20)

  private func member() throws -> AdoptionScene {
    var scene = AdoptionScene()
    scene.report(.of(1, at: 5))
    scene.prefer(Self.chosen)
    scene.pass(31)
    // Router 2 is one as well.
    let question = try #require(
      scene.waiting.first { $0.subject.router?.agent == .number(1) })
    scene.scene.decide(.approve(question.id, .once))
    scene.pass(1)
    #expect(scene.state == .sent)
    return scene
  }

  @Test("What else a member reports than what it was sent moves no preferred network")
  func memberDisagrees() throws {
    var scene = try member()
    for seconds in [12, 13] as [UInt64] {
      scene.report(.of(1, at: seconds, channel: 11))
      #expect(scene.state == .disagreement)
      #expect(scene.dataset == .of(1, at: seconds, channel: 11))
      #expect(scene.scene.home.preferred?.dataset == Self.chosen)
    }
    scene.report(Self.chosen)
    #expect(scene.state == nil && scene.dataset == Self.chosen, "however old it is")
  }

  @Test("Once it is on the preferred network, it moves it as any member")
  func memberLeadsAgain() throws {
    var scene = try member()
    scene.report(.of(1, at: 14, channel: 20))
    #expect(scene.state == nil)
    #expect(scene.scene.home.preferred?.dataset == .of(1, at: 14, channel: 20))
    scene.report(.of(1, at: 15, channel: 11))
    #expect(scene.scene.home.preferred?.dataset == .of(1, at: 15, channel: 11))
  }
}
