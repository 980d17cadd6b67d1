import Foundation
import Testing

/// The whole way: a router is on another network, a person is asked, the router is sent the preferred
/// credentials under seal and says under seal that it uses them.
@Suite("A router is given the preferred network's credentials", .inTurns, .timeLimit(.minutes(30))) struct AdoptionTests
{
  @Test("Asked, agreed, killed, sent, killed, said: the mismatch is over, and nobody has seen a key") func adopted()
    async throws
  {
    let place = try await AdoptingHome()
    let (running, router) = (place.running, place.router)
    let (audience, installation) = (place.audience, place.installation)
    let question = try await installation.question()
    #expect(question["command"] == "dataset/set" && question["requester"] == "login router (team router)")
    let words = #"\#(router.agent) "Living room" is on "guest-thread"; give it the credentials of "home"#
    #expect(question["reason"]?.text?.hasPrefix(words) == true)
    try await running.until("the question") {
      $0.state(router.state)?["adoption"] == "asked"
        && $0.events("consent_requested").first?["message"]?.text?.hasPrefix(words) == true
        && $0.state("threadkeeper/bridge/consent")?["border_agent_id"]?.text == router.agent
    }
    #expect(running.daemon.log.contains(router.agent))
    #expect(place.messages.isEmpty)
    try await installation.decide("approve")
    var daemons = [running.daemon]
    func startAgain() async throws {
      try await running.daemon.kill9()
      try await running.start()
      daemons.append(running.daemon)
    }
    try await startAgain()
    try await running.until("the message") {
      !place.messages($0).isEmpty && $0.state(router.state)?["adoption"] == "sent"
    }
    let sent = place.messages.count
    #expect(try await installation.dataset(of: router.agent) == place.guest.hex())
    try await startAgain()
    try await running.until("the message again") { place.messages($0).count > sent }
    let bodies = try place.opened()
    #expect(Set(bodies.compactMap { $0["id"]?.text }).count == 1)
    for body in bodies {
      #expect(body["border_agent_id"]?.text == router.agent)
      #expect(body["dataset"]?.text == (try place.home.hex()))
    }
    #expect(place.messages.allSatisfy { (1...300).contains($0.messageExpiry ?? 0) && $0.qos == 1 })
    // Who comes later finds the states, and no message.
    let late = try await Audience.start(running.broker)
    try await late.caughtUp()
    #expect(late.state(router.state) != nil && late.look(place.messages).isEmpty)
    #expect(audience.look { $0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty })
    #expect(audience.state(router.state)?["network_name"] == "guest-thread")

    try await running.publish(router.says("dataset", place.home.hex(), to: place.line))
    try await running.until("the end of the mismatch") {
      !$0.alerts("alert_resolved", "PreferredNetworkMismatch").isEmpty
        && $0.state(router.state)?["preferred"] == "match" && $0.state(router.state)?["adoption"] == nil
    }
    #expect(audience.look { $0.alerts("alert_raised", "AdoptionFailed").isEmpty })
    // What was not acknowledged before a kill may be published twice.
    #expect(audience.look { Set($0.events("consent_requested").compactMap { $0["id"]?.text }) }.count == 1)

    var needles = Needles()
    for network in [place.home, place.guest] { needles.add(network) }
    let audit = try await installation.run("audit")
    #expect(audit.contains("credentials_given dataset/set \"home-thread\""))
    for text in daemons.map(\.log) + [audit] { #expect(needles.found(in: text).isEmpty) }
    try await running.stop()
    #expect(try needles.found(below: installation.storePath).finds == [])
    #expect(try installation.verify().matchesManifest)
  }
}
