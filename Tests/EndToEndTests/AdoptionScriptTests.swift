import Broker
import Foundation
import TestKit
import Testing

@Suite("The example for a sealed router", .inTurns, .timeLimit(.minutes(30))) struct AdoptionScriptTests {
  @Test("`always` sends without a question; the example's script has its router use it and says so") func script()
    async throws
  {
    let place = try await AdoptingHome()
    let (running, installation) = (place.running, place.installation)
    try await installation.decide("approve", "--always")
    try await place.untilSent()
    // From here on the script speaks for the login, with a router and a key of its own.
    let key = installation.directory.file("script.key")
    try await running.publish(place.router.says("dataset", place.home.hex(), to: place.line))
    try await installation.enroll("script", try await installation.clientKeygen(key))
    let variables = [
      "HOME": installation.directory.path, "CLIENT_KEY": key, "DAEMON_LINE": place.line, "MQTT_USERNAME": "script",
      "MQTT_HOST": "127.0.0.1", "MQTT_PORT": "\(running.broker.port)",
    ]
    let active = installation.directory.file("active")
    @Sendable func adopt(_ agent: String, named name: String) async throws {
      try installation.directory.put("\(place.guest.hex())\n", "active")
      try listen(as: agent, place)
      let sealed = try await Program.example(
        "sealed-router/announce.sh", ["announce", agent, "Attic"], input: try place.guest.hex() + "\n", variables)
      #expect(sealed.status == 0, "\(sealed.output)")
      let done = try await Program.example(
        "sealed-router/adopt.sh", ["--once", name, "cat > '\(active)'", "cat '\(active)'"], variables)
      #expect(done.status == 0, "\(done.output)")
      try await running.until("the script's router") {
        $0.state("threadkeeper/router/\(agent)")?["preferred"] == "match"
      }
    }
    let first = "a1b2c3d4e5f60703"
    async let adopting: Void = adopt(first, named: first)
    try await installation.decide("approve", "--always")
    try await adopting
    // Another one of the same login: nobody is asked. Its long form is the same id.
    let questions = running.audience.look { $0.events("consent_requested").count }
    let next = "a1b2c3d4e5f60704"
    try await adopt(next, named: next + "0000000000000000")
    #expect(running.audience.look { $0.events("consent_requested").count } == questions)
    for wrong in [[], ["--once"], [first], [first, "a"], ["zz", "a", "b"]] {
      let outcome = try await Program.example("sealed-router/adopt.sh", wrong, variables)
      #expect([64, 65].contains(outcome.status))
    }
    try await running.stop()
  }

  /// Begins the session in which the broker keeps what comes before the script has started, with the client id that
  /// the script keeps.
  private func listen(as agent: String, _ place: AdoptingHome) throws {
    let secret = "00112233445566778899aabbccddeeff"
    let state = place.installation.directory.file(".local/state/threadkeeper-border-router")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    try Data("\(secret)\n".utf8).write(to: URL(fileURLWithPath: state + "/client-id"))
    try Program.check(
      "mosquitto_sub",
      [
        "-V", "mqttv5", "-h", "127.0.0.1", "-p", "\(place.running.broker.port)", "-u", "script", "-q", "1", "-c", "-x",
        "3600", "-i", "threadkeeper-\(secret)-\(agent)", "-t", "threadkeeper/out/script/dataset/set", "-E",
      ])
  }

  /// With a broker that can be made to fail at will: its clients are scripts of this test.
  @Test("What is set already is not set again, but announced, since the announcement may be lost") func repeated()
    async throws
  {
    let directory = try TemporaryDirectory()
    let (here, key) = (directory.path, directory.file("router.key"))
    let made = try await ThreadkeeperBinary.run(["client", "keygen", "--out", key, "--json"])
    let line = try #require(JSON(made.output)?["line"]?.text, "\(made.error)")
    let daemon = try Identity()
    let agent = "a1b2c3d4e5f60705"
    let first = try ThreadNetwork("home-thread").hex()
    let second = try ThreadNetwork("other-thread").hex()
    let messages = try [("1", first), ("1", first), ("2", second)].map { number, dataset in
      let id = "a-000000000000000\(number)"
      let message = try daemon.seals(
        #"{"border_agent_id":"\#(agent)","dataset":"\#(dataset)","id":"\#(id)"}"#, to: line,
        at: "threadkeeper/out/script/dataset/set", id: id, #","v":1"#)
      return String(decoding: message.payload, as: UTF8.self) + "\n"
    }
    try directory.put(messages.joined(), "messages")
    try directory.putScript("cat '\(here)/messages'\n", "mosquitto_sub")
    // The broker cannot be reached when the first one is announced.
    try directory.putScript(
      """
      cat >/dev/null
      echo x >>'\(here)/tries'
      [ "$(wc -l <'\(here)/tries')" -gt 1 ] || exit 1
      cat '\(here)/active' >>'\(here)/announced'
      """, "mosquitto_pub")
    let outcome = try await Program.example(
      "sealed-router/adopt.sh",
      [
        agent,
        // As `ot-ctl` does: it prints what it is given, and its exit code means nothing.
        "tee -a '\(here)/set' | tee '\(here)/active'; exit 1",
        "printf '> '; sed 's/$/\\r/' '\(here)/active'; echo Done",
      ],
      [
        "PATH": "\(here):\(Program.tools):/usr/bin:/bin", "HOME": here, "CLIENT_KEY": key,
        "DAEMON_LINE": daemon.keys.line, "MQTT_USERNAME": "script", "ANSWER_SECONDS": "0",
      ])
    #expect(outcome.status == 69, "\(outcome.output)")
    #expect(outcome.output.contains("the dataset could not be published"))
    #expect(!outcome.output.contains(first) && !outcome.output.contains(second))
    for name in ["set", "announced"] {
      let lines = try String(contentsOfFile: directory.file(name), encoding: .utf8)
      #expect(lines.split(separator: "\n").map(String.init) == [first, second], "\(name)")
    }
  }
}
