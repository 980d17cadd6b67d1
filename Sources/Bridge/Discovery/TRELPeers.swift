import Home
import ServiceDiscovery

/// Peers of TREL on the local network. Border routers send each other the frames of their radios over it, to each peer
/// that is announced (Thread specification, Thread Radio Encapsulation Link), so also to one that has gone while its
/// record is still there.
///
/// | a record | is named |
/// |---|---|
/// | of a border router that is announced, by `xa` or its host | not at all |
/// | of none | after 10 minutes |
/// | that nobody answers for any more, or that never says where it is | after 10 minutes |
///
/// Whether a peer that is announced takes frames is not known: it answers none but the routers of its network.
struct TRELPeers {
  private static let most = 200
  /// Seconds: routers restart.
  private static let hold = 600

  private enum Condition {
    case announced(host: String, address: UInt64?)
    case silent
    case unusable(String)
  }

  /// By the name of the service instance, with the time at which it was last as it should be.
  private var peers: [String: (condition: Condition, since: WireTime)] = [:]

  mutating func take(_ update: ServiceUpdate, at now: WireTime) {
    switch update {
    case .found(let record):
      var since = now
      if let peer = peers[record.name], case .announced = peer.condition { since = peer.since }
      note(record.name, .announced(host: record.host, address: Advertisement.extendedAddress(record.text)), since)
    case .unusable(let name, let reason): note(name, .unusable(reason), now)
    case .lost(let name, .zero): peers[name] = nil
    case .lost(let name, let silence): note(name, .silent, now.adding(seconds: -Int(silence.components.seconds)))
    case .listed: break
    case .unavailable: peers = [:]
    }
  }

  private mutating func note(_ name: String, _ condition: Condition, _ since: WireTime) {
    if peers[name] != nil || peers.count < Self.most { peers[name] = (condition, since) }
  }

  /// Takes which border routers are announced.
  mutating func compare(hosts: Set<String>, addresses: Set<UInt64>, at now: WireTime) {
    for (name, peer) in peers {
      guard case .announced(let host, let address) = peer.condition else { continue }
      if hosts.contains(host) || address.map(addresses.contains) == true { peers[name]?.since = now }
    }
  }

  func leftOver(at now: WireTime) -> [UnlistedRecord] {
    peers.filter { $0.value.since.adding(seconds: Self.hold) <= now }.map { name, peer in
      let reason =
        switch peer.condition {
        case .announced: "no border router with its address or host is announced"
        case .silent: "nobody answers for it any more, though other border routers may still send to it"
        case .unusable(let reason): reason
        }
      return UnlistedRecord(name: name, reason: "it is a TREL peer, and \(reason)")
    }
  }
}
