import Foundation
import TestKit
import Testing

/// threadkeeper is on the near side of a network; on the far side a border router, by Debian's radvd. Every fault is
/// made in the kernel, named, and fixed by the command that is named with it.
@Suite("The way to the devices, with radvd", .inTurns, .enabled(if: Radvd.obstacle == nil, "\(Radvd.obstacle ?? "")"))
struct DevicePathTests {
  private static let prefix = "fd97:ff26:5534:1::/64"

  private let network: LocalNetwork
  private let home: ThreadNetwork
  private let publisher: ServicePublisher
  private let attic: AdvertisedRouter

  init() throws {
    network = try LocalNetwork()
    home = try ThreadNetwork("home")
    publisher = try ServicePublisher(network)
    attic = AdvertisedRouter(1, home)
    try publisher.publish("Attic", text: attic.text)
    try set("accept_ra_rt_info_max_plen", 0)
  }

  // MARK: The network

  /// `sudo` and `sysctl` may be missing on the machine.
  private static let commands = """
    sudo() { "$@"; }
    sysctl() {
      shift
      for word; do
        name=${word%%=*}
        echo "${word#*=}" >"/proc/sys/${name//./\\/}"
      done
    }
    """

  @discardableResult private func run(_ command: String, _ side: LocalNetwork.Side = .near) throws -> String {
    let launcher = network.launcher(side)
    return try Program.check(
      launcher[0], Array(launcher.dropFirst()) + ["bash", "-c", "\(Self.commands)\n\(command)"],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
  }

  private func set(_ name: String, _ value: Int) throws { try run("sysctl -w net.ipv6.conf.near.\(name)=\(value)") }

  private func routes() throws -> String { try run("ip -6 route show proto ra") }

  private func installation(_ more: String = "") throws -> Installation {
    try Installation(port: nil, hold: 0, more: more, launcher: network.launcher(), variables: network.environment())
  }

  /// The daemon lists the border router, whose network is the preferred one.
  private func start(_ installation: Installation) async throws -> DaemonProcess {
    let daemon = try await installation.start()
    try await eventually("the router is listed") {
      try await installation.json("routers").list.contains { $0["source"] == "mdns" }
    }
    try await installation.run("preferred", "set", home.extendedPANID)
    return daemon
  }

  // MARK: doctor

  /// What doctor says of the devices: results, texts and remedies.
  private struct Devices {
    let installation: Installation

    func findings() async throws -> [JSON] {
      let answer = try await installation.command("doctor", "--json")
      return (JSON(answer.output)?["findings"]?.list ?? []).filter { $0["check"] == "devices" }
    }

    /// - Returns: its remedy.
    @discardableResult func until(_ result: String, _ text: String) async throws -> String {
      var found: [JSON] = []
      try await eventually("\(result): \(text)") {
        found = try await findings()
        return found.count == 1 && found[0]["result"]?.text == result && found[0]["text"]?.text?.contains(text) == true
      } otherwise: {
        "\(found)"
      }
      return found[0]["remedy"]?.text ?? ""
    }

    func untilWell() async throws { try await until("ok", "has a route to the devices") }
  }

  /// Runs the first command that a remedy names.
  private func fix(_ remedy: String) throws {
    let parts = remedy.split(separator: "`", omittingEmptySubsequences: false)
    try run(String(try #require(parts.dropFirst().first, "\(remedy)")))
  }

  @Test("doctor names each fault with the command that ends it, and says when all is well") func faults() async throws {
    let installation = try installation("discovery: {matter_controller: here}")
    let daemon = try await start(installation)
    let devices = Devices(installation: installation)
    var router = try Advertiser(network)

    let length = try await devices.until("problem", "this machine ignores routes from border routers on near")
    #expect(length.contains("`sudo sysctl -w net.ipv6.conf.near.accept_ra_rt_info_max_plen=64`"), "\(length)")
    try fix(length)
    try await devices.untilWell()

    try set("forwarding", 1)
    try run("ip -6 route flush proto ra")
    let forwarding = try await devices.until("problem", "because it forwards IPv6")
    #expect(forwarding.contains("accept_ra=2"), "\(forwarding)")
    try fix(forwarding)
    try await devices.untilWell()
    try set("forwarding", 0)

    // A second border router advertises the route, and loses its power.
    router.stop()
    try run("ip address add fe80::dead/64 dev far nodad", .far)
    try run("ip -6 route flush proto ra")
    router = try Advertiser(network, as: "fe80::dead")
    try await eventually("its route") { try routes().contains("\(Self.prefix) via fe80::dead") }
    router.stop()
    try run("ip address delete fe80::dead/64 dev far", .far)
    // What a Matter controller sends has the kernel look for it.
    try run("for second in {1..8}; do echo >/dev/udp/fd97:ff26:5534:1::1/9; sleep 1; done")
    let gone = try await devices.until("problem", "leads to fe80::dead on near, which does not answer")
    try fix(gone)
    try await devices.until("problem", "no border router has advertised a route to \(Self.prefix)")
    router = try Advertiser(network)
    try await devices.untilWell()

    var kitchen = AdvertisedRouter(2, home)
    kitchen.omr = 2
    try publisher.publish("Kitchen", text: kitchen.text)
    try await devices.until("warning", "\"Attic\" with \(Self.prefix), \"Kitchen\" with fd97:ff26:5534:2::/64")
    kitchen.omr = 1
    try publisher.publish("Kitchen", text: kitchen.text)
    try await devices.untilWell()

    try set("disable_ipv6", 1)
    let off = try await devices.until("problem", "IPv6 is off on near")
    try fix(off)
    try await devices.untilWell()
    router.stop()
    #expect(try await daemon.stop() == .exit(0))
  }

  @Test("The alert comes where a Matter server listens, and ends when the machine has a route") func alert()
    async throws
  {
    let script = """
      import socket, sys
      server = socket.create_server(("127.0.0.1", 5580))
      print("ok", flush=True)
      sys.stdin.read()
      """
    let server = try LineProcess(network.launcher() + ["python3", "-c", script])
    #expect(try server.answer() == "ok")
    let router = try Advertiser(network)
    let installation = try installation()
    let daemon = try await start(installation)
    /// As after a change of the local network.
    func publish(partition: UInt8) throws {
      var changed = attic
      changed.partition = partition
      try publisher.publish("Attic", text: changed.text)
    }
    func until(_ status: String) async throws -> JSON {
      var found: JSON?
      try await eventually(within: .seconds(90), "the alert is \(status)") {
        found = try await installation.json("alerts", "--all").list.first { $0["alertname"] == "ThreadPathBroken" }
        return found?["status"]?.text == status
      } otherwise: {
        "\(String(describing: found))"
      }
      return try #require(found)
    }
    try publish(partition: 2)
    let alert = try await until("firing")
    #expect(
      alert["summary"]?.text
        == "devices behind \"Attic\" cannot be reached from here: this machine ignores routes from "
        + "border routers on near")
    try fix(alert["remedy"]?.text ?? "")
    try await eventually("the route") { try routes().contains(Self.prefix) }
    try publish(partition: 3)
    _ = try await until("resolved")
    router.stop()
    withExtendedLifetime(server) {}
    #expect(try await daemon.stop() == .exit(0))
  }
}

private enum Radvd {
  /// Why the tests cannot run here; nil where they can.
  static let obstacle = LocalNetwork.obstacle ?? (TestTools.radvd == nil ? "no radvd: run .ci/test-tools radvd" : nil)
}

/// A border router's router advertisements, as long as it is not stopped.
private final class Advertiser {
  private let process: LineProcess
  private let directory: TemporaryDirectory
  private var isStopped = false

  /// - Parameter source: of the advertisements, an address of the far side; nil: its own.
  init(_ network: LocalNetwork, as source: String? = nil) throws {
    directory = try TemporaryDirectory()
    let routes = [1, 2].map { "route fd97:ff26:5534:\($0)::/64 { AdvRouteLifetime 1800; };" }.joined(separator: "\n")
    let configuration = """
      interface far {
        AdvSendAdvert on;
        MinRtrAdvInterval 3;
        MaxRtrAdvInterval 4;
        AdvDefaultLifetime 0;
        \(source.map { "AdvRASrcAddress { \($0); };" } ?? "")
        \(routes)
      };
      """
    let file = directory.file("radvd.conf")
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: file))
    // Killed, so that it withdraws no route. radvd writes to its error stream alone.
    let script = #""$@" & radvd=$!; read -r _; kill -KILL $radvd; echo stopped"#
    process = try LineProcess(
      network.launcher(.far) + [
        "bash", "-c", script, "bash", TestTools.radvd?.program ?? "radvd", "-n", "-m", "stderr", "-C", file, "-p",
        directory.file("radvd.pid"),
      ])
  }

  deinit { stop() }

  /// It is gone without a word.
  func stop() {
    guard !isStopped else { return }
    isStopped = true
    _ = try? process.ask("stop")
  }
}
