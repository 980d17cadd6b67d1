// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

@Suite struct AnnounceTests {
  @Test("A first announcement stores its dataset, and its network becomes the preferred one")
  func first() throws {
    var scene = HomeScene()
    let output = scene.announce(1, .of(1))
    #expect(output.types == [.announced, .datasetStored, .preferredChanged])
    #expect(
      output.secrets == [
        SecretMove(to: .home, from: .input), SecretMove(to: .router(.number(1)), from: .input),
      ])
    let router = try #require(scene.router(1))
    #expect(router.owner == "otbr" && router.credential == .stored && router.followsPreferred)
    #expect(scene.home.preferred?.dataset == .of(1))
    #expect(scene.home.verdict(of: router) == .match)
    #expect(scene.firing.isEmpty)
  }

  @Test("The same announcement again is a sign of life: nothing is written, published or answered")
  func unchanged() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    _ = scene.home.takeChanges()
    scene.wait(seconds: 20)
    let output = scene.announce(1, .of(1))
    #expect(output == HomeOutput())
    #expect(scene.home.takeChanges().isEmpty)
    #expect(scene.home.routers.lastSeen(.number(1)) == scene.now)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let stored: DatasetSummary
    let incoming: DatasetSummary
    let types: RouterEvent.Types
    let credential: CredentialState
  }

  @Test(
    "What becomes of a dataset that a router reports",
    arguments: [
      Row(
        testDescription: "newer", stored: .of(2), incoming: .of(2, at: 2, channel: 20),
        types: .datasetUpdated, credential: .stored),
      Row(
        testDescription: "older", stored: .of(2, at: 5), incoming: .of(2, at: 4, channel: 20),
        types: .datasetIgnored, credential: .stale),
      Row(
        testDescription: "of the same age and different", stored: .of(2),
        incoming: .of(2, channel: 20), types: .datasetIgnored, credential: .conflict),
      Row(
        testDescription: "another network, older", stored: .of(2, at: 5), incoming: .of(3, at: 1),
        types: .datasetUpdated, credential: .stored),
    ])
  func change(_ row: Row) {
    var scene = HomeScene()
    scene.announce(9, .of(1))
    scene.announce(1, row.stored)
    let output = scene.publish(.dataset, 1) { $0.dataset = row.incoming }
    #expect(output.types == row.types)
    #expect(scene.router(1)?.credential == row.credential)
    #expect(
      scene.router(1)?.dataset == (row.credential == .stored ? row.incoming : row.stored))
    #expect(scene.home.preferred?.dataset == .of(1))
  }

  @Test("No other team publishes for a border agent id that has an owner")
  func owner() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    let output = scene.announce(1, .of(2), from: "mallory")
    #expect(output.rejection == .notAuthorized(.number(1)))
    #expect(scene.router(1)?.dataset == .of(1))
    scene.publish(.leave, 1)
    #expect(scene.announce(1, .of(2), from: "mallory").rejection == .notAuthorized(.number(1)))
  }
}
