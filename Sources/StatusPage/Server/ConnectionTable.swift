// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Synchronization

/// The connections that are open.
///
/// A place is kept by who has sent a whole request. Where all are taken, the connection that has waited longest without
/// one makes room: so clients that send nothing keep nobody out. A few places are kept by health checks only, whose
/// answers are so short that nobody can leave them unread.
final class ConnectionTable: Sendable {
  private struct Entry {
    let channel: any Channel
    let peer: String?
    let number: UInt64
    var hasRequest = false
    var isHealthCheck = false
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    var next: UInt64 = 0
    var isClosed = false
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

  var count: Int { state.withLock { $0.entries.count } }

  /// - Returns: false where there are too many already, or all were closed.
  func add(_ channel: any Channel) -> Bool {
    let peer = limitedPeer(channel)
    let (isAdded, evicted): (Bool, (any Channel)?) = state.withLock { state in
      guard !state.isClosed,
        peer == nil || state.entries.values.count(where: { $0.peer == peer }) < mostOfPeer
      else { return (false, nil) }
      var evicted: (any Channel)?
      if state.entries.count >= most {
        let waiting = state.entries.values.filter { !$0.hasRequest }.min { $0.number < $1.number }
        guard let waiting else { return (false, nil) }
        state.entries[ObjectIdentifier(waiting.channel)] = nil
        evicted = waiting.channel
      }
      state.next += 1
      state.entries[ObjectIdentifier(channel)] = Entry(
        channel: channel, peer: peer, number: state.next)
      return (true, evicted)
    }
    evicted?.close(promise: nil)
    return isAdded
  }

  /// Its request is complete.
  ///
  /// - Returns: false where only places for health checks are left, and it is none.
  func keep(_ channel: any Channel, isHealthCheck: Bool) -> Bool {
    state.withLock { state in
      let others = state.entries.values.count { $0.hasRequest && !$0.isHealthCheck }
      guard isHealthCheck || others < most - healthChecks else { return false }
      state.entries[ObjectIdentifier(channel)]?.hasRequest = true
      state.entries[ObjectIdentifier(channel)]?.isHealthCheck = isHealthCheck
      return true
    }
  }

  func remove(_ channel: any Channel) {
    state.withLock { _ = $0.entries.removeValue(forKey: ObjectIdentifier(channel)) }
  }

  /// Closes what is open, and whatever comes.
  func closeAll() {
    let entries = state.withLock { state in
      state.isClosed = true
      return state.entries.values
    }
    for entry in entries { entry.channel.close(promise: nil) }
  }

  /// Nil for who has no limit: on loopback all users of the machine have one address.
  private func limitedPeer(_ channel: any Channel) -> String? {
    guard let text = channel.remoteAddress?.ipAddress, let address = PeerAddress(text),
      !address.isLoopback, address != unlimited
    else { return nil }
    return text
  }
}
