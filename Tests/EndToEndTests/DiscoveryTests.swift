import BorderAgentDouble
import Foundation
import SodiumCrypto
import TestKit
import Testing
import ThreadDataset

/// Border routers in a local network of the test's own, with a real avahi-daemon at either end. A silent agent, and
/// what else a record changes: `DiscoveryTests` and `DiscoveryAlertTests` of `Home`.
@Suite(
  "Border routers on the local network, with avahi-daemon", .inTurns,
  .enabled(if: LocalNetwork.obstacle == nil, "\(LocalNetwork.obstacle ?? "")")) struct DiscoveryTests
{
  private let network: LocalNetwork
  private let home: ThreadNetwork
  private let guests: ThreadNetwork

  init() throws {
    network = try LocalNetwork()
    home = try ThreadNetwork("home")
    guests = try ThreadNetwork("guest-thread")
  }

  private func scan(_ seconds: Int) async throws -> ThreadkeeperBinary.Outcome {
    try await ThreadkeeperBinary.run(["networks", "--scan", "\(seconds)"], environment: network.environment())
  }

  private func running() async throws -> RunningHome {
    let running = try await RunningHome(variables: network.environment())
    try await running.publish(BorderRouter(number: 1).announces(try home.hex()))
    return running
  }

  @Test("Routers are listed, followed to another network, offline when they go, and scanned for") func life()
    async throws
  {
    let publisher = try ServicePublisher(network)
    func publish(_ name: String, _ router: AdvertisedRouter) throws { try publisher.publish(name, text: router.text) }
    let kitchen = AdvertisedRouter(1, home)
    var attic = AdvertisedRouter(2, home)
    try publish("Kitchen", kitchen)
    try publish("Attic", attic)
    let running = try await running()
    for router in [kitchen, attic] {
      try await running.until("a router on the preferred network") {
        $0.state(router.topic)?["preferred"] == "match" && $0.state(router.topic)?["source"] == "mdns"
      }
      let state = running.state(router.topic)
      #expect(state?["omr"] == "fd97:ff26:5534:1::/64" && state?["shares_by_code"] == true)
    }
    let listed = try #require(try await running.installation.json("networks").list.first)
    #expect(listed["routers"] == 3)
    #expect(listed["border_routers"]?.list.first?["name"] == "Attic")
    func discovery() async throws -> JSON? { try await running.installation.status()["discovery"] }
    // Routers are listed before avahi-daemon says that there are no more for now.
    try await eventually("the first list is complete") { try await discovery()?["state"] == "running" }
    #expect(try await discovery()?["routers"] == 2)

    attic.network = guests
    try publish("Attic", attic)
    try await running.until("the alert") {
      $0.alerts("alert_raised", "PreferredNetworkMismatch").last.map {
        $0["severity"] == "warning" && $0["summary"]?.text?.contains(#""Attic" is on "guest-thread""#) == true
      } == true
    }
    let found = try await scan(5)
    #expect(found.status == 0, "\(found.error)")
    for word in ["home", home.extendedPANID, "Kitchen", "guest-thread", "Attic"] {
      #expect(found.output.contains(word), "\(found.output)")
    }
    attic.network = home
    attic.partition = 2
    try publish("Attic", attic)
    try await running.until("the split") { !$0.alerts("alert_raised", "NetworkSplit").isEmpty }
    try publisher.withdraw("Attic")
    func untilOffline(_ router: AdvertisedRouter) async throws {
      try await running.until("the router is offline") { $0.state(router.topic)?["availability"] == "offline" }
    }
    try await untilOffline(attic)
    #expect(running.audience.look { $0.events("router_left") }.isEmpty)

    // When avahi-daemon goes away, status says so and the list stays; when it is back, it is followed.
    try network.stop(.avahi)
    try await eventually("status says that avahi-daemon is away") { try await discovery()?["state"] == "unavailable" }
    let text = try await running.installation.run("status")
    #expect(text.contains("apt-get install avahi-daemon"), "\(text)")
    #expect(running.state(kitchen.topic)?["availability"] == "online")
    let nothing = try await scan(1)
    #expect(nothing.status == 69)
    #expect(nothing.error.contains("avahi-daemon does not answer"), "\(nothing.error)")
    try publisher.withdraw("Kitchen")
    try network.start(.avahi)
    try await untilOffline(kitchen)
    try await running.stop()
  }

  /// The border agent of a router, on this machine.
  private func borderAgent(pskc: [UInt8], _ active: String, pending: [UInt8] = []) throws -> BorderAgentServer {
    try BorderAgentServer(
      BorderAgentDouble(
        secret: SecretBytes(copying: pskc), active: Hexadecimal.decode(active) ?? [], pending: pending,
        random: RandomBytes.fill))
  }

  @Test("A network comes by the code that its router shows, once it shows one") func code() async throws {
    try network.stop(.avahi, .far)
    let port = try UnusedPort.next()
    let running = try await RunningHome(
      more: "http: {enabled: true, port: \(port), token: \(RunningHome.token)}", variables: network.environment())
    let (code, sender) = ("582046713", try PacketSender(network))
    let agent = try borderAgent(pskc: Array(code.utf8), try guests.hex())
    defer { agent.stop() }
    let router = AdvertisedRouter(1, guests)
    func send(_ service: String = "_meshcop") throws {
      let text = service == "_meshcop" ? MulticastPacket.strings(router.text) : [0]
      var packet = MulticastPacket(
        name: Array("Kitchen".utf8), text: text, host: Array("kitchen".utf8), port: agent.port,
        address: [127, 0, 0, 1], lifetime: 4_500, hostLifetime: 4_500)
      packet.service = service
      try sender.send(packet)
    }
    try await eventually("it is seen") {
      try send()
      return running.state(router.topic)?["source"] == "mdns"
    }
    var outputs: [String] = []
    func join(_ words: String...) async throws -> ThreadkeeperBinary.Outcome {
      let outcome = try await running.installation.command(["networks", "join"] + words)
      outputs += [outcome.output, outcome.error]
      return outcome
    }
    try await running.installation.run("preferred", "set", guests.extendedPANID)
    async let waiting = running.installation.command("networks", "join", code)
    try await eventually("its code is tried") {
      try send("_meshcop-e")
      return agent.router.isOpen
    }
    let first = try await waiting
    outputs += [first.output, first.error]
    #expect(first.status == 0, "\(first)")
    #expect(first.output.hasPrefix("guest-thread (\(guests.extendedPANID)): channel 15, 1 border router here."))
    #expect(first.output.contains("has its credentials now"), "\(first)")
    let preferred = try await running.installation.json("preferred", "show")
    #expect(preferred["channel"] == 15)

    let wrong = try await join("123456784")
    #expect(wrong.status == 77 && wrong.error.contains("9 more tries"), "\(wrong)")
    let mistyped = try await join("123456789")
    #expect(mistyped.status == 64 && mistyped.error.contains("--anyway"), "\(mistyped)")
    let tried = try await join("123456789", "--anyway", "--router", router.agent)
    #expect(tried.status == 77 && tried.error.contains("8 more tries"), "\(tried)")
    try await running.installation.run("preferred", "forget")
    if DebianTool.chromium != nil {
      let tab = try await BrowserTab()
      try await tab.open("http://127.0.0.1:\(port)/?token=\(RunningHome.token)")
      try await tab.wait("document.querySelector('.steps .code') !== null")
      try await tab.evaluate(
        """
        document.querySelectorAll('#protection details').forEach(one => one.open = one.contains(bring) ||
          one.className === 'makers');
        document.querySelector('.code').value = '582 046 713'; document.querySelector('#protection').scrollIntoView()
        """)
      try await tab.takePicture("page-code")
      try await tab.evaluate("document.querySelector('.steps .send').click()")
      try await tab.waitForText("No network is preferred. Press")
      try await tab.takePicture("page-code-answer")
    }
    let stored = try await join("582", "046", "713")
    #expect(stored.status == 0 && stored.output.contains("No network is preferred"), "\(stored)")
    let chosen = try await running.installation.json("networks", "join", code, "--prefer")
    #expect(chosen["changed"] == true && chosen["result"] == "undecided", "\(chosen)")
    let again = try await running.installation.json("networks", "join", code)
    #expect(again["changed"] == false && again["result"] == "preferred", "\(again)")

    if geteuid() == 0 {
      let needles = [ProcessMemory.Needle(name: "the code", bytes: Array(code.utf8))]
      try await ProcessMemory.expectNone(
        of: needles + ProcessMemory.needles("network key", guests.networkKey), in: running.daemon.identifier,
        after: "joining")
    }
    outputs.append(try await running.installation.run("audit"))
    #expect(outputs.last?.contains("genp thread-by-code/home \(guests.extendedPANID)") == true, "\(outputs.last ?? "")")
    for output in outputs + [running.daemon.log] {
      for secret in [code, "582 046 713", Hexadecimal.encode(guests.networkKey)] {
        #expect(!output.lowercased().contains(secret))
      }
    }
    try await running.stop()
  }

  @Test("A record that is not listed is named with its reason, also one without TXT") func unlisted() async throws {
    try network.stop(.avahi, .far)
    let running = try await running()
    let sender = try PacketSender(network)
    let kitchen = MulticastPacket.strings(AdvertisedRouter(1, home).text)
    let records: [(name: String, text: [UInt8]?)] = [
      ("Kitchen", kitchen), ("Kitchen (2)", kitchen), ("Attic", nil),
      ("Cellar", MulticastPacket.strings([Array("rv=1".utf8)])),
    ]
    func send() throws {
      for (number, record) in records.enumerated() {
        try sender.send(
          MulticastPacket(name: Array(record.name.utf8), text: record.text, host: Array("host-\(number)".utf8)))
      }
    }
    try await eventually("all are named") {
      try send()
      let unlisted = try await running.installation.status()["discovery"]?["unlisted"]
      return unlisted?.list.count == 3
    }
    let reasons = [
      #""Attic" is not listed: nobody says where it is"#,
      #""Cellar" is not listed: its TXT record names no border router: `id` is missing, and `xa` is missing"#,
      "is not listed: it is another record of the border router \(AdvertisedRouter(1, home).agent)",
    ]
    let doctor = try await running.installation.command("doctor")
    try send()
    let found = try await scan(8)
    for reason in reasons {
      #expect(doctor.output.contains(reason), "\(doctor.output)")
      #expect(found.error.contains(reason), "\(found.error)")
    }
    #expect(found.status == 0 && found.output.components(separatedBy: "Kitchen").count == 2)
    try await running.stop()
  }

  @Test(
    "A router whose power is cut is offline when its address expires, a removed one not listed until it is back, and one that was reset is one router"
  ) func silent() async throws {
    let kitchen = AdvertisedRouter(1, home)
    let attic = AdvertisedRouter(2, home)
    try network.stop(.avahi, .far)
    let running = try await running()
    let sender = try PacketSender(network)
    /// As border routers do it: services for 75 minutes, addresses for a short time.
    func untilOnline(
      _ name: String, _ router: AdvertisedRouter, host: String? = nil, port: UInt16, lifetime: UInt32 = 3
    ) async throws {
      try await eventually("\(name) is online") {
        try sender.send(
          MulticastPacket(
            name: Array(name.utf8), text: MulticastPacket.strings(router.text), host: Array((host ?? name).utf8),
            port: port, lifetime: 4_500, hostLifetime: lifetime))
        return running.state(router.topic)?["availability"] == "online"
      }
    }
    try await untilOnline("Kitchen", kitchen, port: 1)
    #expect(running.state(kitchen.topic)?["preferred"] == "match")
    // Nobody answers from now on.
    try await running.until("the alert") { !$0.alerts("alert_raised", "BorderRouterOffline").isEmpty }
    #expect(running.state(kitchen.topic)?["availability"] == "offline")
    let found = try await scan(2)
    #expect(found.status == 0 && !found.output.contains("Kitchen"), "\(found)")

    try await running.installation.run("routers", "remove", kitchen.agent)
    try await running.until("it is removed") { $0.latest[kitchen.topic] == "" }
    try await untilOnline("Attic", attic, port: 2)
    #expect(running.audience.look { $0.latest[kitchen.topic] } == "")
    try await untilOnline("Kitchen", kitchen, port: 1)

    // It is reset: the former record is not withdrawn, and its host still answers.
    let (former, current) = (AdvertisedRouter(3, home), AdvertisedRouter(4, home))
    try await untilOnline("Box #00AB", former, host: "box", port: 3, lifetime: 4_500)
    try await untilOnline("Box #00CD", current, host: "box", port: 3, lifetime: 4_500)
    try await running.until("one row and one alert") {
      $0.latest[former.topic] == ""
        && $0.alerts("alert_raised", "UnknownRouter").contains {
          $0["summary"]?.text == #""Box #00AB" was probably reset: it is now "Box #00CD""#
        }
    }
    #expect(running.state(current.topic)?["availability"] == "online")
    try await running.installation.run("routers", "accept", current.agent)
    try await running.until("its name") { $0.state(current.topic)?["name"] == "Box #00AB" }
    try await running.stop()
  }
}
