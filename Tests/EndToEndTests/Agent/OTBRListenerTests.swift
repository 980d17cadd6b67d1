// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// Another user of the router's machine takes the place of its REST interface.
@Suite(
  "Another user on the router's port", .inTurns, .timeLimit(.minutes(30)),
  .enabled(if: getuid() == 0, "only root can be two users"))
struct OTBRListenerTests {
  private let place: OTBRHome

  init() throws { place = try OTBRHome() }

  @Test("It is sent nothing, the router is offline as untrusted, and --router-user trusts it")
  func untrusted() async throws {
    let audience = try await Audience.start(place.broker)
    let daemon = try await place.installation.start()
    let routers = try await ThreadRouters(1)
    let id = try routers.order(0, "form", place.home.hex()).agent
    let topic = place.topic(id)
    let agent = try place.agent(routers)
    try await audience.until("online") { $0.state(topic)?["availability"] == "online" }
    try routers.order(0, "refuse")
    let received = place.installation.directory.file("received")
    let impostor = try Impostor.start(routers.url(0), received)
    // Raised before the other program listens, the alert is updated.
    try await audience.until("untrusted") {
      $0.state(topic)?["offline_reason"] == "untrusted"
        && $0.alertEvents.last { $0["alertname"] == "BorderRouterOffline" }?["reason"]
          == "untrusted"
    }
    #expect(agent.output.contains("a program of user \(Impostor.user) listens on port"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: received)).isEmpty)
    // As the router's user it is asked.
    let trusting = try AgentProcess(
      .otbr, [routers.url(0)], broker: place.broker, in: place.installation.directory,
      "--router-user", Impostor.user)
    try await eventually("a request") {
      try String(contentsOfFile: received, encoding: .utf8).hasPrefix("GET /node HTTP/1.1")
    }
    #expect(trusting.end() == .exit(0))
    impostor.signal(SIGKILL)
    try await eventually("the router's own listener") {
      (try? routers.order(0, "listen")) != nil
    }
    try await audience.until("online again") { $0.state(topic)?["availability"] == "online" }
    #expect(agent.end() == .exit(0))
    #expect(try await daemon.stop() == .exit(0))
  }
}
