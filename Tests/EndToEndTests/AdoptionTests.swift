// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The whole way: a router is on another network, a person is asked, the router is sent the preferred
/// credentials under seal and says under seal that it uses them.
@Suite("A router is given the preferred network's credentials", .inTurns, .timeLimit(.minutes(30)))
struct AdoptionTests {
  private let place: AdoptingHome
  private var broker: TestBroker { place.broker }
  private var installation: Installation { place.installation }
  private var home: ThreadNetwork { place.home }
  private var guest: ThreadNetwork { place.guest }

  init() throws { place = try AdoptingHome() }

  @Test(
    "Asked, agreed, killed, sent, killed, said: the mismatch is over, and nobody has seen a key")
  func adopted() async throws {
    let (scene, first) = try await place.start()
    let audience = scene.audience
    let question = try await place.waiting()
    #expect(
      question["command"] == "dataset/set" && question["requester"] == "login router (team router)")
    let words =
      #"\#(scene.router.agent) "Living room" is on "guest-thread"; give it the credentials of "home"#
    #expect(question["reason"]?.text?.hasPrefix(words) == true)
    try await audience.until("the question") {
      $0.state(scene.router.state)?["adoption"] == "asked"
        && $0.events("consent_requested").first?["message"]?.text?.hasPrefix(words) == true
        && $0.state("threadkeeper/bridge/consent")?["border_agent_id"]?.text == scene.router.agent
    }
    #expect(first.log.contains(scene.router.agent))
    #expect(audience.look(place.messages).isEmpty)
    try await place.approve()
    try await first.kill9()

    let second = try await installation.start()
    try await audience.until("the message") {
      !place.messages($0).isEmpty && $0.state(scene.router.state)?["adoption"] == "sent"
    }
    let sent = audience.look(place.messages).count
    #expect(try await installation.dataset(of: scene.router.agent) == guest.hex())
    try await second.kill9()
    let third = try await installation.start()
    try await audience.until("the message again") { place.messages($0).count > sent }
    let bodies = try place.opened(scene)
    #expect(Set(bodies.compactMap { $0["id"]?.text }).count == 1)
    #expect(bodies.allSatisfy { $0["border_agent_id"]?.text == scene.router.agent })
    for body in bodies { #expect(body["dataset"]?.text == (try home.hex())) }
    #expect(
      audience.look(place.messages).allSatisfy {
        (1...300).contains($0.messageExpiry ?? 0) && $0.qos == 1
      }
    )
    // Who comes later finds the states, and no message.
    let late = try await Audience.start(broker)
    try await late.caughtUp()
    #expect(late.state(scene.router.state) != nil && late.look(place.messages).isEmpty)
    #expect(audience.look { $0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty })
    #expect(audience.state(scene.router.state)?["network_name"] == "guest-thread")

    try await scene.publisher.publish([
      scene.router.says("dataset", home.hex(), to: scene.line)
    ])
    try await audience.until("the end of the mismatch") {
      !$0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
        && $0.state(scene.router.state)?["preferred"] == "match"
        && $0.state(scene.router.state)?["adoption"] == nil
    }
    #expect(audience.look { $0.alerts("alert_raised", "AdoptionFailed").isEmpty })
    // What was not acknowledged before a kill may be published twice.
    #expect(
      audience.look { Set($0.events("consent_requested").compactMap { $0["id"]?.text }) }.count == 1
    )

    var needles = Needles()
    for network in [home, guest] {
      needles.add("the network key of \(network.name)", network.networkKey)
      needles.add("the PSKc of \(network.name)", network.pskc)
    }
    for daemon in [first, second, third] { #expect(needles.found(in: daemon.log).isEmpty) }
    let audit = try await installation.command("audit").output
    #expect(audit.contains("credentials_given dataset/set \"home-thread\""))
    #expect(needles.found(in: audit).isEmpty)
    #expect(try await third.stop() == .exit(0))
    #expect(try needles.found(below: installation.storePath).finds == [])
    #expect(try installation.verify().matchesManifest)
  }

  @Test("Who is not enrolled is named; enrolled and denied, that is said, and nothing was sent")
  func refused() async throws {
    let (scene, daemon) = try await place.start(isEnrolled: false)
    let unknown = try await place.failed("not_enrolled", scene)
    #expect(unknown["remedy"]?.text?.contains("clients enroll router") == true)
    #expect(unknown["router_name"] == nil && unknown["router"]?.text == scene.router.agent)
    #expect(try await installation.json("consent", "list")["pending"] == [])
    try await place.enroll(scene.router)
    let first = try #require(try await place.waiting()["id"]?.text)
    try await scene.audience.until("the alert's end") {
      !$0.alerts("alert_resolved", "AdoptionFailed").isEmpty
    }
    // Another key: that question ends, and a person is asked about the new one.
    let other = try SealingLogin("router", scene.router.agent)
    try await place.enroll(other)
    try await eventually("another question") {
      let list = try await installation.json("consent", "list")["pending"]?.list
      return list?.count == 1 && list?.first?["id"]?.text != first
    }
    let id = try #require(try await place.waiting()["id"]?.text)
    #expect(try await installation.command("consent", "deny", id).status == 0)
    _ = try await place.failed("denied", scene)
    try await scene.audience.until("the state") {
      $0.state(scene.router.state)?["adoption"] == "failed"
    }
    #expect(try await installation.dataset(of: scene.router.agent) == guest.hex())
    #expect(scene.audience.look(place.messages).isEmpty)
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("Denied by mistake, asked again and approved: the router is sent the dataset")
  func askedAgain() async throws {
    let (scene, daemon) = try await place.start()
    let first = try #require(try await place.waiting()["id"]?.text)
    #expect(try await installation.command("consent", "deny", first).status == 0)
    let remedy = try await place.failed("denied", scene)["remedy"]?.text ?? ""
    for way in [
      "\"Ask again\" in Home Assistant or on the status page",
      "`threadkeeper consent ask \(scene.router.agent)`",
    ] {
      #expect(remedy.contains(way), "\(remedy)")
    }
    let asked = try await installation.command("consent", "ask", scene.router.agent)
    #expect(asked.status == 0 && asked.output.contains("asked again"), "\(asked.error)")
    #expect(try await place.waiting()["id"]?.text != first)
    try await scene.audience.until("the alert's end") {
      !$0.alerts("alert_resolved", "AdoptionFailed").isEmpty
    }
    let twice = try await installation.command("consent", "ask", scene.router.agent)
    #expect(twice.status == 64 && twice.error.contains("already"), "\(twice.error)")
    let unknown = try await installation.command("consent", "ask", BorderRouter(number: 9).agent)
    #expect(unknown.status == 66, "\(unknown.error)")
    #expect(scene.audience.look(place.messages).isEmpty)
    try await place.approve()
    try await scene.audience.until("the message") { !place.messages($0).isEmpty }
    #expect(try place.opened(scene).first?["dataset"]?.text == (try home.hex()))
    #expect(try await daemon.stop() == .exit(0))
  }
}
