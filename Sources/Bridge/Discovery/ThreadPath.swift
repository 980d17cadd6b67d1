import Home
import ServiceDiscovery
import Settings

/// Whether this machine reaches the devices behind border routers, by what its kernel has. Devices have addresses below
/// the off-mesh routable prefix (OMR) of their network, and each of its border routers advertises the route there
/// (RFC 4191). All is about the prefix: border routers of one network have one, and any of them leads there.
///
/// | a route to the prefix | of the router's link | what is wrong |
/// |---|---|---|
/// | one, its next router answers | any | nothing |
/// | its next router does not answer, and no other does, or this machine forwards and asks for none | any | `silent` |
/// | none | the router is on none of this machine's | `elsewhere` |
/// | none | without IPv6 | `noIPv6` |
/// | none | the kernel ignores routes of advertisements | `ignoresRoutes` |
/// | none | nothing of that | `noRoute` |
///
/// Where two border routers of the network name two prefixes, that is wrong too. What breaks nothing yet is only
/// reported as known: a bridge that filters multicast, a router that is seen through a reflector.
package struct ThreadPath {
  /// A border router whose record says how its devices are reached.
  package struct Router: Hashable {
    /// For sentences.
    let name: String
    let prefix: UInt64
    /// As `Advertisement.endpoint`; nil where it is not known.
    let endpoint: String?
  }

  private let routers: [Place]
  private let machine: MachineNetwork

  /// A router, and the interface behind which it is; nil: none of this machine's.
  private struct Place {
    let router: Router
    let interface: MachineNetwork.Interface?
  }

  package init(_ routers: [Router], _ machine: MachineNetwork) {
    self.machine = machine
    self.routers = routers.compactMap { router in
      guard let (bytes, zone) = router.address else { return Place(router: router, interface: nil) }
      // What runs on this machine needs no route of others.
      guard !machine.isOwn(bytes) else { return nil }
      return Place(router: router, interface: machine.link(of: bytes, zone: zone))
    }
  }

  /// Whether programs of this machine need the devices.
  package static func isWanted(_ controller: Settings.MatterController) -> Bool {
    switch controller {
    case .auto: MachineNetwork.hasMatterServer
    case .here: true
    case .elsewhere: false
    }
  }

  /// The border routers whose devices are to be reached.
  package static func routers(of home: Home) -> [Router] {
    home.routersWithPrefix.map { Router(name: $0.name, prefix: $0.prefix, endpoint: $0.endpoint) }
  }

  /// What is wrong, and what is only to be known.
  package var faults: [PathFault] {
    var faults: [PathFault] = []
    let prefixes = Dictionary(grouping: routers, by: \.router.prefix).sorted { $0.key < $1.key }
    if prefixes.count > 1 {
      faults.append(.init(.severalPrefixes(prefixes.map { .init(prefix: $0.key, routers: Self.names($0.value)) })))
    }
    var unreached: [Place] = []
    for (prefix, routers) in prefixes {
      guard let hops = machine.hops(to: prefix) else {
        let onLinks = routers.filter { $0.interface != nil }
        unreached += onLinks.isEmpty ? routers : onLinks
        continue
      }
      faults += known(routers)
      let silent = hops.filter(\.isSilent)
      for hop in silent where silent.count == hops.count || machine.interface(hop.interface)?.forwards == true {
        guard let gateway = hop.gateway else { continue }
        faults.append(
          .init(
            .silent(prefix: prefix, gateway: gateway, interface: hop.interface, isOnly: silent.count == hops.count),
            Self.names(routers)))
      }
    }
    for (name, places) in Dictionary(grouping: unreached, by: { $0.interface?.name }).sorted(by: {
      ($0.key ?? "") < ($1.key ?? "")
    }) {
      let prefixes = Set(places.map(\.router.prefix)).sorted()
      let kind = name.flatMap(machine.interface).map { cause($0, prefixes) } ?? .elsewhere(prefixes: prefixes)
      faults.append(.init(kind, Self.names(places)))
    }
    return faults
  }

  private static func names(_ places: [Place]) -> [String] { places.map(\.router.name).sorted() }

  private func cause(_ interface: MachineNetwork.Interface, _ prefixes: [UInt64]) -> PathFault.Kind {
    let hasIPv6 = interface.addresses.contains { $0.bytes.starts(with: [0xFE, 0x80]) && $0.bytes.count == 16 }
    if interface.isIPv6Disabled != false || !hasIPv6 {
      return .noIPv6(interface: interface.name, isOff: interface.isIPv6Disabled)
    }
    let missing = machine.missingSettings(interface)
    guard missing.isEmpty else {
      return .ignoresRoutes(interface: interface.name, missing, forwards: interface.forwards)
    }
    return .noRoute(prefixes: prefixes, interface: interface.name, isFiltered: interface.filtersMulticast)
  }

  /// What breaks nothing yet.
  private func known(_ routers: [Place]) -> [PathFault] {
    let others = routers.filter { $0.interface == nil && $0.router.endpoint != nil }
    let bridges = Set(routers.compactMap(\.interface).filter(\.filtersMulticast).map(\.name)).sorted()
    return (others.isEmpty ? [] : [PathFault(.reflected, Self.names(others))])
      + bridges.map { PathFault(.filtersMulticast(bridge: $0)) }
  }
}

/// Why devices are not reached from this machine, or may not be soon.
package struct PathFault: Hashable {
  enum Kind: Hashable {
    case severalPrefixes([Part])
    /// - isOff: nil where the kernel has none.
    case noIPv6(interface: String, isOff: Bool?)
    /// - settings: of the kernel, and what they have to be.
    case ignoresRoutes(interface: String, [Setting], forwards: Bool)
    /// - isOnly: whether no other router of the route answers.
    case silent(prefix: UInt64, gateway: String, interface: String, isOnly: Bool)
    case noRoute(prefixes: [UInt64], interface: String, isFiltered: Bool)
    case elsewhere(prefixes: [UInt64])
    case reflected
    case filtersMulticast(bridge: String)
  }

  struct Part: Hashable {
    let prefix: UInt64
    let routers: [String]
  }

  struct Setting: Hashable {
    let name: String
    let value: Int
  }

  let kind: Kind
  /// The names of the routers that it is about.
  let routers: [String]

  init(_ kind: Kind, _ routers: [String] = []) { (self.kind, self.routers) = (kind, routers) }

  package enum Weight: Hashable { case broken, doubtful, known }

  /// Whether devices are not reached, perhaps not, or reached all the same.
  package var weight: Weight {
    switch kind {
    case .noIPv6, .ignoresRoutes, .silent(_, _, _, isOnly: true), .noRoute, .elsewhere: .broken
    case .severalPrefixes, .silent: .doubtful
    case .reflected, .filtersMulticast: .known
    }
  }
}

extension ThreadPath.Router {
  /// The bytes of its address, and the interface that a link-local one names.
  fileprivate var address: (bytes: [UInt8], zone: Substring?)? {
    guard let text = endpoint?.split(separator: ", ").first else { return nil }
    let parts = text.split(separator: "%", maxSplits: 1)
    guard let bytes = parts.first.flatMap({ MachineNetwork.bytes(of: $0) }) else { return nil }
    return (bytes, parts.count == 2 ? parts[1] : nil)
  }
}

extension MachineNetwork {
  fileprivate func interface(_ name: String) -> Interface? { interfaces.first { $0.name == name } }

  fileprivate func isOwn(_ address: [UInt8]) -> Bool {
    address.count == 4 && address[0] == 127 || interfaces.contains { $0.addresses.contains { $0.bytes == address } }
  }

  fileprivate func link(of address: [UInt8], zone: Substring?) -> Interface? {
    if let zone { return interface(String(zone)) }
    if let own = interfaces.first(where: { $0.addresses.contains { $0.isLink(of: address) } }) { return own }
    guard address.count == 16 else { return nil }
    let number = address.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    return hops(to: number)?.first { $0.gateway == nil }.flatMap { interface($0.interface) }
  }

  /// The ways that the most exact route has.
  ///
  /// - Returns: nil: there is none. A default route counts for global prefixes alone: no router of the internet has a
  ///   way to another.
  fileprivate func hops(to prefix: UInt64) -> [Hop]? {
    let fitting = routes.filter { $0.length == 0 || ($0.prefix ^ prefix) >> (64 - UInt64($0.length)) == 0 }
    guard let length = fitting.map(\.length).max() else { return nil }
    let hops = fitting.filter { $0.length == length }.flatMap(\.hops)
    if length == 0 { return prefix >> 61 == 0b001 && !hops.isEmpty ? [] : nil }
    return hops.isEmpty ? nil : hops
  }

  /// What the kernel needs to take routes of advertisements (ip-sysctl): 2 where it forwards. A program such as
  /// NetworkManager may do that in its place.
  fileprivate func missingSettings(_ interface: Interface) -> [PathFault.Setting] {
    let isDoneByProgram =
      interface.acceptsAdvertisements == 0
      && routes.contains { $0.isAdvertised && $0.hops.contains { $0.interface == interface.name } }
    if isDoneByProgram { return [] }
    let accepts = interface.forwards ? 2 : 1
    var missing: [PathFault.Setting] = []
    if interface.acceptsAdvertisements.map({ $0 < accepts }) == true {
      missing.append(.init(name: "accept_ra", value: accepts))
    }
    if interface.longestRoute.map({ $0 < 64 }) == true {
      missing.append(.init(name: "accept_ra_rt_info_max_plen", value: 64))
    }
    return missing
  }
}

extension MachineNetwork.Address {
  /// Whether another address is on its link. All links have the same link-local prefix.
  fileprivate func isLink(of other: [UInt8]) -> Bool {
    guard bytes.count == other.count, length > 0, !(bytes.count == 16 && bytes.starts(with: [0xFE, 0x80])) else {
      return false
    }
    let whole = length / 8
    guard bytes.prefix(whole) == other.prefix(whole) else { return false }
    let rest = length % 8
    return rest == 0 || (bytes[whole] ^ other[whole]) >> UInt8(8 - rest) == 0
  }
}
