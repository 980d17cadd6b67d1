import Synchronization
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import ServiceDiscovery

/// The machine has `eth0` with 10.0.0.0/24 and a link-local address, on which border routers are.
@Suite("Whether this machine reaches the devices") struct ThreadPathTests {
  typealias Interface = MachineNetwork.Interface
  typealias Hop = MachineNetwork.Hop

  private static let prefix: UInt64 = 0xFD97_FF26_5534_0001
  private static let own: [MachineNetwork.Address] = [
    .init(bytes: [10, 0, 0, 1], length: 24),
    .init(bytes: [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1], length: 64),
  ]

  private static func machine(_ routes: [MachineNetwork.Route] = [], _ change: (inout Interface) -> Void = { _ in })
    -> MachineNetwork
  {
    var eth0 = Interface(
      name: "eth0", addresses: own, isIPv6Disabled: false, acceptsAdvertisements: 1, longestRoute: 64)
    change(&eth0)
    return MachineNetwork(interfaces: [eth0], routes: routes)
  }

  private static func route(_ hops: Hop..., to prefix: UInt64 = prefix, length: Int = 64) -> MachineNetwork.Route {
    .init(prefix: prefix, length: length, hops: hops)
  }

  private static func hop(_ gateway: String? = "fe80::9", isSilent: Bool = false) -> Hop {
    Hop(interface: "eth0", gateway: gateway, isSilent: isSilent)
  }

  private static let attic = ThreadPath.Router(name: "Attic", prefix: prefix, endpoint: "fe80::9%eth0, 49154")

  private func faults(_ machine: MachineNetwork, _ routers: ThreadPath.Router...) -> [PathFault] {
    ThreadPath(routers.isEmpty ? [Self.attic] : routers, machine).faults
  }

  private func at(_ endpoint: String?) -> ThreadPath.Router {
    .init(name: "Attic", prefix: Self.prefix, endpoint: endpoint)
  }

  private static let noRoute = PathFault.Kind.noRoute(prefixes: [prefix], interface: "eth0", isFiltered: false)
  private static let elsewhere = PathFault.Kind.elsewhere(prefixes: [prefix])

  private static func ignores(_ settings: [(String, Int)], forwards: Bool = false) -> PathFault.Kind {
    .ignoresRoutes(interface: "eth0", settings.map { .init(name: $0.0, value: $0.1) }, forwards: forwards)
  }

  @Test(
    "A route to the prefix is enough, by whichever router",
    arguments: [
      route(hop()), route(hop("fe80::5")), route(hop(nil)), route(hop(), to: 0xFD97_FF26_5534_0000, length: 48),
      route(hop("fe80::5", isSilent: true), hop()),
    ]) func reached(route: MachineNetwork.Route)
  {
    // Another program than the kernel may have made it.
    for accepts in [0, 1] {
      #expect(faults(Self.machine([route]) { ($0.acceptsAdvertisements, $0.longestRoute) = (accepts, 0) }).isEmpty)
    }
  }

  @Test(
    "No such route is one, and without a reason in this machine none was advertised",
    arguments: [
      [], [route(hop(), to: 0xFD97_FF26_5534_0002)], [route(hop("fe80::5"), to: 0, length: 0)], [route()],
      [route(), route(hop(), to: 0xFD97_FF26_5534_0000, length: 48)],
      [route(hop(), to: 0xFD97_FF26_5534_8000, length: 49)],
    ]) func notReached(routes: [MachineNetwork.Route])
  { #expect(faults(Self.machine(routes)) == [PathFault(Self.noRoute, ["Attic"])]) }

  @Test("The way to the internet leads to global prefixes alone") func global() {
    let router = ThreadPath.Router(name: "Attic", prefix: 0x2001_0DB8_0000_0001, endpoint: Self.attic.endpoint)
    #expect(faults(Self.machine([Self.route(Self.hop("fe80::5"), to: 0, length: 0)]), router).isEmpty)
    #expect(faults(Self.machine([Self.route(to: 0, length: 0)]), router).count == 1)
  }

  @Test(
    "What the kernel needs to take routes is named with its values, all at once",
    arguments: [
      (1, false, 64, noRoute), (2, true, 64, noRoute), (1, false, 128, noRoute),
      (1, false, 0, ignores([("accept_ra_rt_info_max_plen", 64)])),
      (2, false, 63, ignores([("accept_ra_rt_info_max_plen", 64)])), (0, false, 64, ignores([("accept_ra", 1)])),
      (1, true, 64, ignores([("accept_ra", 2)], forwards: true)),
      (0, true, 0, ignores([("accept_ra", 2), ("accept_ra_rt_info_max_plen", 64)], forwards: true)),
      (nil, false, nil, noRoute),
    ] as [(Int?, Bool, Int?, PathFault.Kind)]) func ignored(
      accepts: Int?, forwards: Bool, longest: Int?, expected: PathFault.Kind
    )
  {
    let machine = Self.machine {
      ($0.acceptsAdvertisements, $0.forwards, $0.longestRoute) = (accepts, forwards, longest)
    }
    #expect(faults(machine) == [PathFault(expected, ["Attic"])])
  }

  @Test("Where another program takes advertisements, the kernel's settings are no reason") func otherProgram() {
    var other = Self.route(Self.hop(), to: 0xFD00_0000_0000_0001)
    other.isAdvertised = true
    let machine = Self.machine([other]) { ($0.acceptsAdvertisements, $0.longestRoute) = (0, 0) }
    #expect(faults(machine) == [PathFault(Self.noRoute, ["Attic"])])
  }

  @Test(
    "An interface without IPv6 takes no route, and is known by the router's IPv4 address too",
    arguments: [true, false, nil] as [Bool?]) func noIPv6(isOff: Bool?)
  {
    let machine = Self.machine { ($0.isIPv6Disabled, $0.addresses) = (isOff, [Self.own[0]]) }
    let fault = PathFault(.noIPv6(interface: "eth0", isOff: isOff), ["Attic"])
    for endpoint in ["10.0.0.9, 49154", "fe80::9%eth0, 49154"] {
      #expect(faults(machine, at(endpoint)) == [fault], "\(endpoint)")
    }
  }

  @Test("A router of the route that does not answer is named, where no other takes its place") func silent() {
    func fault(_ gateway: String, isOnly: Bool) -> PathFault {
      PathFault(.silent(prefix: Self.prefix, gateway: gateway, interface: "eth0", isOnly: isOnly), ["Attic"])
    }
    let gone = Self.hop("fe80::dead", isSilent: true)
    #expect(faults(Self.machine([Self.route(gone)])) == [fault("fe80::dead", isOnly: true)])
    let both = [Self.route(gone), Self.route(Self.hop())]
    #expect(faults(Self.machine(both)).isEmpty)
    // The kernel looks whether a router answers only while it does not forward.
    let found = faults(Self.machine(both) { $0.forwards = true })
    #expect(found == [fault("fe80::dead", isOnly: false)] && found[0].weight == .doubtful)
  }

  @Test(
    "Where the router is decides what is looked at",
    arguments: [
      ("fe80::9%eth0, 1", noRoute), ("10.0.0.9, 1", noRoute), ("fd00::9, 1", noRoute), ("10.0.1.9, 1", elsewhere),
      ("fd01::9, 1", elsewhere), ("fe80::9%eth1, 1", elsewhere), ("fe80::9, 1", elsewhere), ("nowhere, 1", elsewhere),
      (nil, elsewhere),
    ] as [(String?, PathFault.Kind)]) func place(endpoint: String?, expected: PathFault.Kind)
  {
    let machine = Self.machine([Self.route(Self.hop(nil), to: 0xFD00_0000_0000_0000)])
    #expect(faults(machine, at(endpoint)) == [PathFault(expected, ["Attic"])])
  }

  @Test(
    "A router on this machine needs no route, and one on a link speaks for its network",
    arguments: ["10.0.0.1, 1", "127.0.0.1, 1", "fe80::1%eth0, 1"]) func ofThisMachine(endpoint: String)
  {
    #expect(faults(Self.machine(), at(endpoint)).isEmpty)
    let far = ThreadPath.Router(name: "Far", prefix: Self.prefix, endpoint: "10.0.1.9, 1")
    #expect(faults(Self.machine(), Self.attic, far) == [PathFault(Self.noRoute, ["Attic"])])
  }

  @Test("A bridge that filters is the likely reason without a route, and only to be known with one") func bridge() {
    let filtered = PathFault.Kind.noRoute(prefixes: [Self.prefix], interface: "eth0", isFiltered: true)
    #expect(faults(Self.machine { $0.filtersMulticast = true }) == [PathFault(filtered, ["Attic"])])
    let known = faults(Self.machine([Self.route(Self.hop())]) { $0.filtersMulticast = true })
    #expect(known == [PathFault(.filtersMulticast(bridge: "eth0"))] && known[0].weight == .known)
  }

  @Test("A reflected router with a route is only to be known") func reflected() {
    let known = faults(Self.machine([Self.route(Self.hop())]), at("10.0.1.9, 1"), Self.attic)
    #expect(known == [PathFault(.reflected, ["Attic"])] && known[0].weight == .known)
  }

  @Test("Two prefixes of one network are named with their routers; one reason is named once") func split() {
    let kitchen = ThreadPath.Router(name: "Kitchen", prefix: Self.prefix + 1, endpoint: "10.0.0.8, 1")
    let several = PathFault(
      .severalPrefixes([
        .init(prefix: Self.prefix, routers: ["Attic"]), .init(prefix: Self.prefix + 1, routers: ["Kitchen"]),
      ]))
    let routes = [Self.route(Self.hop()), Self.route(Self.hop(), to: Self.prefix + 1)]
    #expect(faults(Self.machine(routes), kitchen, Self.attic) == [several])
    let none = PathFault.Kind.noRoute(prefixes: [Self.prefix, Self.prefix + 1], interface: "eth0", isFiltered: false)
    #expect(faults(Self.machine(), kitchen, Self.attic) == [several, PathFault(none, ["Attic", "Kitchen"])])
  }

  @Test("Each has its words, with the command that fixes it") func words() {
    let all: [(PathFault.Kind, String)] = [
      (
        Self.ignores([("accept_ra_rt_info_max_plen", 64)]),
        "`sudo sysctl -w net.ipv6.conf.eth0.accept_ra_rt_info_max_plen=64`"
      ),
      (
        Self.ignores([("accept_ra", 2), ("accept_ra_rt_info_max_plen", 64)], forwards: true),
        "`sudo sysctl -w net.ipv6.conf.eth0.accept_ra=2 net.ipv6.conf.eth0.accept_ra_rt_info_max_plen=64`"
      ),
      (
        .ignoresRoutes(interface: "eth0.5", [.init(name: "accept_ra", value: 1)], forwards: false),
        "`sudo sysctl -w net/ipv6/conf/eth0.5/accept_ra=1`"
      ), (.noIPv6(interface: "eth0", isOff: true), "`sudo sysctl -w net.ipv6.conf.eth0.disable_ipv6=0`"),
      (.noIPv6(interface: "eth0", isOff: false), "Turn IPv6 on for eth0"),
      (.noIPv6(interface: "eth0", isOff: nil), "`ipv6.disable=1`"),
      (
        .silent(prefix: Self.prefix, gateway: "fe80::dead", interface: "eth0", isOnly: true),
        "`sudo ip -6 route del fd97:ff26:5534:1::/64 via fe80::dead dev eth0`"
      ),
      (
        .noRoute(prefixes: [Self.prefix], interface: "br0", isFiltered: true),
        "`sudo ip link set br0 type bridge mcast_snooping 0`"
      ), (Self.noRoute, "Restart the border router"), (Self.elsewhere, "Connect this machine to the network"),
    ]
    for (kind, remedy) in all {
      let fault = PathFault(kind, ["\"Attic\""])
      #expect(fault.words.text.hasPrefix("Devices behind \"Attic\" cannot be reached from here: "))
      #expect(fault.words.remedy.contains(remedy), "\(fault.words)")
      #expect(fault.weight == .broken)
    }
    let ignores = PathFault(Self.ignores([("accept_ra", 2)], forwards: true), ["A", "B", "C", "D"])
    #expect(
      ignores.words.text
        == "Devices behind A, B, C and 1 more cannot be reached from here: this machine ignores routes "
        + "from border routers on eth0, because it forwards IPv6")
    let facts = AlertFacts.threadPathBroken([PathFault(.reflected, ["A"]), ignores, PathFault(Self.noRoute, ["E"])])
    #expect(facts?.names.first.first?.hasPrefix("devices behind A, B, C and 1 more cannot be reached") == true)
    #expect(facts?.names.first.first?.hasSuffix("(and 1 more: see `threadkeeper doctor`)") == true)
    #expect(facts?.names.first.last?.hasSuffix("within ten minutes.") == true)
    #expect(
      AlertFacts.threadPathBroken([PathFault(.reflected, ["A"]), PathFault(.filtersMulticast(bridge: "b"))]) == nil)
  }

  // MARK: The alert

  /// What its kernel says; a test changes it.
  private final class Kernel: Sendable { let says = Mutex<MachineNetwork?>(nil) }

  @Test("The alert follows what the kernel says, waits as others do, and stays while nothing is known") func alert()
    throws
  {
    let (kit, kernel) = (try LoopKit(discovers: true), Kernel())
    let dataset = OperationalDataset.of(1)
    try kit.receive(.announce(1, dataset))
    var record = try #require(Advertisement([BorderAgentID(high: 9, low: 9)]))
    (record.name, record.network, record.activeSeconds) = ("Attic", dataset.extendedPANID, 1)
    (record.endpoint, record.offMeshPrefix) = ("fe80::9%eth0, 49154", Self.prefix)
    try kit.loop.see(Sightings([record]))
    let watch = PathWatch(kit.loop, home: "home", .here) { kernel.says.withLock { $0 } }
    func look(_ machine: MachineNetwork?) throws -> Alert? {
      kernel.says.withLock { $0 = machine }
      try watch.look(kit.home)
      return kit.home.alerts[AlertKey(.threadPathBroken)]
    }
    #expect(try look(Self.machine { $0.longestRoute = 0 })?.phase == .held)
    try kit.pass(seconds: 31)
    let firing = try #require(try look(Self.machine { $0.longestRoute = 0 }))
    #expect(firing.phase == .firing)
    #expect(firing.facts.names.first.first?.hasPrefix("devices behind \"Attic\" cannot be reached from here") == true)
    // Nothing is written again for what is known.
    let batches = kit.follower.batches.withLock(\.count)
    #expect(try look(Self.machine { $0.longestRoute = 0 })?.sequence == firing.sequence)
    #expect(try look(nil)?.phase == .firing)
    #expect(kit.follower.batches.withLock(\.count) == batches)
    #expect(try look(Self.machine([Self.route(Self.hop())]))?.phase == .resolved)
    #expect(try look(Self.machine())?.phase == .held)
    // Without a router that says its prefix, or of another network, there is nothing to reach.
    record.offMeshPrefix = nil
    try kit.loop.see(Sightings([record]))
    #expect(try look(Self.machine())?.phase == .resolved)
    (record.offMeshPrefix, record.network) = (Self.prefix, ExtendedPANID(number: 5))
    try kit.loop.see(Sightings([record]))
    #expect(try look(Self.machine())?.phase == .resolved)
  }

  @Test("Where the controller is elsewhere, or nothing is looked for any more, the alert ends") func ends() throws {
    let kit = try LoopKit(discovers: true)
    let facts = try #require(AlertFacts.threadPathBroken([PathFault(Self.noRoute, ["A"])]))
    func phase(_ kit: LoopKit) -> Alert.Phase? { kit.home.alerts[AlertKey(.threadPathBroken)]?.phase }
    func fire() throws {
      try kit.loop.perform(.condition(.threadPathBroken, facts), in: "home")
      try kit.pass(seconds: 31)
      #expect(phase(kit) == .firing)
    }
    try fire()
    try PathWatch(kit.loop, home: "home", .elsewhere) { Self.machine() }.look(kit.home)
    #expect(phase(kit) == .resolved)
    try fire()
    #expect(phase(try kit.restarted()) == .resolved)
  }
}
