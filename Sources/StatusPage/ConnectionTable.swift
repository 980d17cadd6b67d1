import Synchronization

/// The places of the connections that are open.
///
/// A place is kept by who has sent a whole request. Where all are taken, the connection that has waited longest without
/// one makes room: so clients that send nothing keep nobody out. A few places are kept by health checks only, whose
/// answers are so short that nobody can leave them unread.
final class ConnectionTable: Sendable {
  private struct Place {
    let peer: String?
    var hasRequest = false
    var isHealthCheck = false
  }

  private struct State {
    /// By the connection's number, which grows.
    var places: [UInt64: Place] = [:]
    var next: UInt64 = 0
  }

  private let most: Int
  private let healthChecks: Int
  private let mostOfPeer: Int
  private let unlimited: PeerAddress?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - healthChecks: of all places those that only health checks keep.
  ///   - mostOfPeer: connections from one address.
  ///   - unlimited: an address that may have all, beside loopback: a proxy that others come through.
  init(most: Int, healthChecks: Int, mostOfPeer: Int, unlimited: PeerAddress?) {
    self.most = most
    self.healthChecks = healthChecks
    self.mostOfPeer = mostOfPeer
    self.unlimited = unlimited
  }

  var count: Int { state.withLock { $0.places.count } }

  /// A place for another connection.
  ///
  /// - Parameter peer: the IP address that it comes from.
  /// - Returns: its number, and that of the connection that makes room; nil where there are too many already.
  func add(_ peer: String?) -> (number: UInt64, evicted: UInt64?)? {
    let peer = limited(peer)
    return state.withLock { state in
      guard peer == nil || state.places.values.count(where: { $0.peer == peer }) < mostOfPeer else { return nil }
      var evicted: UInt64?
      if state.places.count >= most {
        evicted = state.places.filter { !$0.value.hasRequest }.keys.min()
        guard let evicted else { return nil }
        state.places[evicted] = nil
      }
      state.next += 1
      state.places[state.next] = Place(peer: peer)
      return (state.next, evicted)
    }
  }

  /// Its request is complete.
  ///
  /// - Returns: false where only places for health checks are left, and it is none.
  func keep(_ number: UInt64, isHealthCheck: Bool) -> Bool {
    state.withLock { state in
      let others = state.places.values.count { $0.hasRequest && !$0.isHealthCheck }
      guard isHealthCheck || others < most - healthChecks else { return false }
      state.places[number]?.hasRequest = true
      state.places[number]?.isHealthCheck = isHealthCheck
      return true
    }
  }

  func remove(_ number: UInt64) { state.withLock { $0.places[number] = nil } }

  /// Nil for who has no limit: on loopback all users of the machine have one address.
  private func limited(_ peer: String?) -> String? {
    if let address = peer.flatMap(PeerAddress.init), address.isLoopback || address == unlimited { return nil }
    return peer
  }
}
