// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// The same way, where the router is one of the example's scripts.
@Suite("The example adopts the preferred network", .inTurns, .timeLimit(.minutes(30)))
struct AdoptionScriptTests {
  private let place: AdoptingHome

  init() throws { place = try AdoptingHome() }

  @Test("`always` sends without a question; the example's script has its router use it and says so")
  func script() async throws {
    let (scene, daemon) = try await place.start()
    try await place.approve("--always")
    try await scene.audience.until("the message") { !place.messages($0).isEmpty }
    // From here on the script speaks for the login, with a router and a key of its own.
    let key = place.installation.directory.file("router.key")
    let made = try await place.installation.clientKeygen(key)
    try await scene.publisher.publish([
      scene.router.says("dataset", place.home.hex(), to: scene.line)
    ])
    try await scene.audience.until("the first router") {
      $0.state(scene.router.state)?["preferred"] == "match"
    }
    #expect(try await place.installation.command("clients", "enroll", "script", made).status == 0)
    let agent = "a1b2c3d4e5f60703"
    let active = place.installation.directory.file("active")
    try Data("\(place.guest.hex())\n".utf8).write(to: URL(fileURLWithPath: active))
    let sealed = try await Program.example(
      "sealed-router/announce.sh", ["announce", agent, "Attic"],
      input: try place.guest.hex() + "\n",
      variables(scene, key: key))
    #expect(sealed.status == 0, "\(sealed.output)")
    try listen(as: agent)
    async let adopting = Program.example(
      "sealed-router/adopt.sh", ["--once", agent, "cat > '\(active)'", "cat '\(active)'"],
      variables(scene, key: key))
    try await place.approve("--always")
    let done = try await adopting
    #expect(done.status == 0, "\(done.output)")
    try await scene.audience.until("the script's router") {
      $0.state("threadkeeper/router/\(agent)")?["preferred"] == "match"
    }
    // Another one of the same login: nobody is asked.
    let questions = scene.audience.look { $0.events("consent_requested").count }
    let next = "a1b2c3d4e5f60704"
    try listen(as: next)
    try Data("\(place.guest.hex())\n".utf8).write(to: URL(fileURLWithPath: active))
    _ = try await Program.example(
      "sealed-router/announce.sh", ["announce", next], input: try place.guest.hex() + "\n",
      variables(scene, key: key))
    let again = try await Program.example(
      // Its long form is the same id.
      "sealed-router/adopt.sh",
      ["--once", next + "0000000000000000", "cat > '\(active)'", "cat '\(active)'"],
      variables(scene, key: key))
    #expect(again.status == 0, "\(again.output)")
    try await scene.audience.until("the next router") {
      $0.state("threadkeeper/router/\(next)")?["preferred"] == "match"
    }
    #expect(scene.audience.look { $0.events("consent_requested").count } == questions)
    for wrong in [[], ["--once"], [agent], [agent, "a"], ["zz", "a", "b"]] {
      let outcome = try await Program.example(
        "sealed-router/adopt.sh", wrong, variables(scene, key: key))
      #expect([64, 65].contains(outcome.status))
    }
    #expect(try await daemon.stop() == .exit(0))
  }

  /// Begins the session in which the broker keeps what comes before the script has started, with the client id that
  /// the script keeps.
  private func listen(as agent: String) throws {
    let secret = "00112233445566778899aabbccddeeff"
    let state = place.installation.directory.file(".local/state/threadkeeper-border-router")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    try Data("\(secret)\n".utf8).write(to: URL(fileURLWithPath: state + "/client-id"))
    try Program.check(
      "mosquitto_sub",
      [
        "-V", "mqttv5", "-h", "127.0.0.1", "-p", "\(place.broker.port)", "-u", "script", "-q", "1",
        "-c",
        "-x", "3600", "-i", "threadkeeper-\(secret)-\(agent)", "-t",
        "threadkeeper/out/script/dataset/set",
        "-E",
      ])
  }

  private func variables(_ scene: AdoptingHome.Scene, key: String) -> [String: String] {
    [
      "HOME": place.installation.directory.path, "CLIENT_KEY": key, "DAEMON_LINE": scene.line,
      "MQTT_USERNAME": "script", "MQTT_HOST": "127.0.0.1", "MQTT_PORT": "\(place.broker.port)",
    ]
  }
}
