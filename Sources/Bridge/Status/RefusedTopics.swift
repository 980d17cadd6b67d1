// SPDX-License-Identifier: Apache-2.0

import Broker

/// Which topics the broker does not take from the daemon, on the connection that is. A topic is no longer among
/// them once the broker takes it.
struct RefusedTopics {
  /// Topics that are remembered; a broker that refuses more refuses enough.
  private static let most = 1_000
  /// For publications without a name. Those of the outbox count from 1.
  private static let firstToken: UInt64 = 1 << 63

  private var underWay: [UInt64: String] = [:]
  private var nextToken = firstToken
  private var refused: [String: MosquittoError] = [:]
  /// One of them.
  private var last: String?

  /// Another connection: the broker may have another mind.
  mutating func restart() {
    underWay.removeAll()
    forget()
  }

  private mutating func forget() {
    refused.removeAll()
    last = nil
  }

  /// Notes what is on its way, each under a name of its own.
  mutating func send(_ publications: [Publication]) -> [Publication] {
    publications.map { publication in
      var publication = publication
      if publication.token == 0 {
        publication.token = nextToken
        nextToken += 1
      }
      underWay[publication.token] = publication.topic
      return publication
    }
  }

  /// Of something that is counted elsewhere.
  mutating func forget(_ token: UInt64) { underWay[token] = nil }

  /// - Returns: whether the access list lets the daemon do what it did not before. Then all of it may be
  ///   another one.
  mutating func acknowledge(_ token: UInt64, _ outcome: PublicationOutcome) -> Bool {
    guard let topic = underWay.removeValue(forKey: token) else { return false }
    switch outcome {
    case .delivered:
      guard let error = refused.removeValue(forKey: topic) else { return false }
      let wasByAccess = error.reason == .notAuthorized
      if wasByAccess { forget() }
      if last == topic { last = refused.keys.min() }
      return wasByAccess
    case .refused(let error):
      guard refused.count < Self.most || refused[topic] != nil else { return false }
      refused[topic] = error
      last = topic
      return false
    }
  }

  /// Nil while the broker takes everything.
  var report: BridgeMonitor.Refusals? {
    guard let last, let error = refused[last] else { return nil }
    return BridgeMonitor.Refusals(
      topics: refused.count, last: last, problem: error.message,
      isByAccess: error.reason == .notAuthorized)
  }
}
