import ThreadDataset

/// Why devices are not reached from this machine, for the alert and for `doctor`.
extension PathFault {
  /// What is wrong, and what to do: sentences without their full stops.
  package var words: (text: String, remedy: String) {
    switch kind {
    case .severalPrefixes(let parts):
      let shown = parts.prefix(3).map { "\(Self.list($0.routers)) with \($0.prefix.prefixText)" }
      return (
        "Border routers of the preferred network do not have the same prefix for its devices: "
          + shown.joined(separator: ", "),
        "Wait ten minutes, then restart the border router that is alone with its prefix: the network may be split"
      )
    case .noIPv6(let interface, let isOff):
      let turnOn = "turn IPv6 on for \(interface) in the network settings of this machine"
      switch isOff {
      case nil:
        return (
          unreached("this machine has no IPv6"),
          "Remove `ipv6.disable=1` from the command line of its kernel, and restart it"
        )
      case true?:
        return (
          unreached("IPv6 is off on \(interface)"),
          "Run `\(Self.sysctl(interface, [.init(name: "disable_ipv6", value: 0)]))`, and \(turnOn)"
        )
      case false?:
        return (unreached("\(interface) has no IPv6 address"), turnOn.prefix(1).uppercased() + turnOn.dropFirst())
      }
    case .ignoresRoutes(let interface, let settings, let forwards):
      let accepts = settings.contains { $0.name == "accept_ra" && $0.value == 2 }
      return (
        unreached(
          "this machine ignores routes from border routers on \(interface)"
            + (forwards && accepts ? ", because it forwards IPv6" : "")),
        "Run `\(Self.sysctl(interface, settings))`, and write the same into a file below /etc/sysctl.d to keep it. "
          + "The routes come within ten minutes"
      )
    case .silent(let prefix, let gateway, let interface, let isOnly):
      let route = "\(gateway) on \(interface), which does not answer"
      return (
        isOnly
          ? unreached("the route to \(prefix.prefixText) leads to \(route)")
          : "Devices behind \(Self.list(routers)) may not be reached from here: one route to \(prefix.prefixText) leads "
            + "to \(route)",
        "Run `sudo ip -6 route del \(prefix.prefixText) via \(gateway) dev \(interface)` if that border router is gone, "
          + "else restart it"
      )
    case .noRoute(let prefixes, let interface, let isFiltered):
      return (
        unreached("no border router has advertised a route to \(Self.list(prefixes)) on \(interface)"),
        isFiltered
          ? "Run `\(Self.unfiltered(interface))`: that bridge may hold back what border routers advertise"
          : "Restart the border router. If that does not help, let access points and switches pass all IPv6 multicast"
      )
    case .elsewhere(let prefixes):
      return (
        unreached("no network of this machine has that border router, and there is no route to \(Self.list(prefixes))"),
        "Connect this machine to the network of the border router, or give it a route there by the router between them"
      )
    case .reflected:
      return (
        "\(Self.list(routers)) \(routers.count == 1 ? "is" : "are") in none of this machine's networks: what is known "
          + "of \(routers.count == 1 ? "it" : "them") comes through a reflector",
        "Nothing is to be done while devices are reached"
      )
    case .filtersMulticast(let bridge):
      return (
        "The bridge \(bridge) passes multicast only to who has asked for it, and asks nobody itself",
        "If devices are lost after some minutes, run `\(Self.unfiltered(bridge))`"
      )
    }
  }

  private func unreached(_ reason: String) -> String {
    "Devices behind \(Self.list(routers)) cannot be reached from here: \(reason)"
  }

  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(3) + (names.count > 3 ? ["\(names.count - 3) more"] : [])
    guard let last = shown.last, shown.count > 1 else { return shown.first ?? "" }
    return shown.dropLast().joined(separator: ", ") + " and " + last
  }

  private static func list(_ prefixes: [UInt64]) -> String { list(prefixes.map(\.prefixText)) }

  /// Where a name has a dot, as that of a VLAN, slashes stand between the parts (sysctl(8)).
  private static func sysctl(_ interface: String, _ settings: [Setting]) -> String {
    let separator = interface.contains(".") ? "/" : "."
    let words = settings.map { setting in
      (["net", "ipv6", "conf", interface, setting.name].joined(separator: separator)) + "=\(setting.value)"
    }
    return "sudo sysctl -w " + words.joined(separator: " ")
  }

  private static func unfiltered(_ bridge: String) -> String {
    "sudo ip link set \(bridge) type bridge mcast_snooping 0"
  }
}
