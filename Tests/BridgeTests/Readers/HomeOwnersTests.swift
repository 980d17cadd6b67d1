// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("Whose things are")
struct HomeOwnersTests {
  /// A home that prefers network 1; router 1 is of the team otbr, router 2 of the team hub.
  private func scene() -> PublishingScene {
    var scene = PublishingScene()
    scene.publish(.announce, 1, .of(1), from: "otbr")
    scene.publish(.announce, 2, .of(2), from: "hub")
    scene.publish(.announce, 3, .of(3), from: "otbr")
    scene.publish(.offline, 3, from: "otbr")
    return scene
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
    var context = RequestContext(
      Requester(.systemUser(0), team: "root"), reply: .caller, actor: "root")
    context.isAdministrator = true
    scene.handle(.request(.setPreferred(.network(.init(number: 7), router: nil)), context))
    #expect(scene.home.unconfirmedReporters.isEmpty)
    scene.publish(.announce, 1, .of(7), from: "otbr")
    #expect(scene.home.unconfirmedReporters == [BorderAgentID(high: 1, low: 0)])
  }
}
