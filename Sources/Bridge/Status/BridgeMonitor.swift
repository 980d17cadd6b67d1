// SPDX-License-Identifier: Apache-2.0

import Broker
import Synchronization

/// How the bridge is, kept in memory: what `bridge/health` shows, and what cannot be stored because the
/// store itself is what fails.
package final class BridgeMonitor: Sendable {
  package enum Intake: Sendable, Equatable {
    case connecting
    case running
    /// A message: what is wrong and what to do.
    case backingOff(String)
  }

  /// What the broker answers to the daemon's user name and password.
  package enum Login: Sendable, Equatable {
    /// Nothing yet, or nothing since they were changed.
    case unknown
    case accepted
    /// A message: which user, and what the broker wants.
    case refused(String)
  }

  package struct Snapshot: Sendable {
    /// The two connections, as far as this process knows.
    package var isIntakeConnected = false
    /// Since when everything that routers publish has been received and kept. A router that is not listened to is not
    /// silent.
    package var listeningSince: WireTime?
    package var isStatusConnected = false
    /// Connections of the status connection since the start.
    var statusConnections: Int64 = 0
    package var lastConnectionProblem: String?
    package var storeProblem: StoreProblem?
    var failingReaders: Set<StoreReader> = []
    /// Somebody has met a damaged page.
    var isStoreCheckDue = false
    var storeCheckedAt: WireTime?
    /// Why the store cannot be written before it was restored.
    var unrepairable: String?
    /// What the broker answered last to each of the two connections. That the broker is away changes nothing.
    var intakeLogin = Login.unknown
    var statusLogin = Login.unknown
    /// Why a session counts as taken over, until it has been the daemon's own for long enough.
    var intakeTakeover: String?
    var statusTakeover: String?
    package var takeover: String? { intakeTakeover ?? statusTakeover }
    package var intakeReconnects: Int64 = 0
    package var received: Int64 = 0
    package var rejected: Int64 = 0
    /// The same by the code of the rejection, of which there are few.
    package var rejectedByCode: [String: Int64] = [:]
    package var retainedIgnored: Int64 = 0
    package var duplicatesIgnored: Int64 = 0
    package var requestsAnswered: Int64 = 0
    package var requestsRefused: Int64 = 0
    package var answersDropped: Int64 = 0
    package var publicationsRefused: Int64 = 0
    /// What the broker does not take now.
    package var refusals: Refusals?
    package var refusedDevices: RefusedDevices?
    /// The last device of Home Assistant that another client has altered.
    var alteredDevice: AlteredDevice?
    /// When another client altered one with buttons.
    var alteredButtonAt: WireTime?

    package var intake: Intake {
      if let storeProblem { return .backingOff(storeProblem.reason) }
      if isIntakeConnected { return .running }
      return intakeTakeover.map { .backingOff($0) } ?? .connecting
    }

    /// What is published beside `intake`: what is wrong, and what to do.
    package var reason: String? {
      switch intake {
      case .running: takeover
      case .connecting: lastConnectionProblem
      case .backingOff(let reason): reason
      }
    }

    /// Refused as long as one of the connections is, accepted when both are.
    package var login: Login {
      switch (intakeLogin, statusLogin) {
      case (.refused(let words), _), (_, .refused(let words)): .refused(words)
      case (.accepted, .accepted): .accepted
      default: .unknown
      }
    }
  }

  /// Another client has written where the daemon announces a device to Home Assistant.
  struct AlteredDevice: Sendable, Equatable {
    /// Seconds for which it counts, and for which nothing is decided by buttons where it had some.
    static let seconds = 60

    let topic: String
    let home: String
    var at: WireTime
  }

  /// Topics that the daemon may not publish to.
  package struct Refusals: Sendable, Equatable {
    package var topics: Int
    package var last: String
    /// Words of the last.
    package var problem: String
    /// Whether it is the broker's access list that refuses the last.
    package var isByAccess: Bool
  }

  /// The store cannot be written.
  package struct StoreProblem: Sendable, Equatable {
    package let reason: String
    package let since: WireTime
    /// Whether a batch failed. A tick that succeeds proves nothing then: its few bytes may fit where
    /// a batch does not.
    var stopsIntake: Bool
    /// When it was met last.
    var seen: WireTime

    package static func == (a: StoreProblem, b: StoreProblem) -> Bool {
      a.reason == b.reason && a.since == b.since
    }
  }

  /// Seconds without a failure after which an intake that is connected, and so would have been sent
  /// again what it refused, counts as well.
  static let quietSeconds = 15

  package let figures = BridgeFigures()
  package let recent = RecentEvents()
  private let state = Mutex(Snapshot())

  package init() {}

  package var snapshot: Snapshot { state.withLock { $0 } }

  func update(_ change: (inout Snapshot) -> Void) { state.withLock { change(&$0) } }

  /// - Parameter isButton: whether it is the device of a request, or of a network that can be preferred.
  /// - Returns: whether this is news.
  func noteAltered(_ topic: String, home: String, isButton: Bool, at now: WireTime) -> Bool {
    let isNews = alteredDevice(at: now) == nil
    update {
      $0.alteredDevice = AlteredDevice(topic: topic, home: home, at: now)
      if isButton { $0.alteredButtonAt = now }
    }
    return isNews
  }

  /// Whether a device with buttons was altered less than a minute ago: nothing is decided by buttons.
  func refusesButtons(at now: WireTime) -> Bool {
    guard let altered = snapshot.alteredButtonAt else { return false }
    return now < altered.adding(seconds: AlteredDevice.seconds)
  }

  /// The device that was altered less than a minute ago.
  func alteredDevice(at now: WireTime) -> AlteredDevice? {
    snapshot.alteredDevice.flatMap {
      now < $0.at.adding(seconds: AlteredDevice.seconds) ? $0 : nil
    }
  }

  /// The user name or the password is another one from now on.
  func loginChanged() {
    state.withLock {
      $0.intakeLogin = .unknown
      $0.statusLogin = .unknown
    }
  }

  func count(_ batch: BatchCounts) {
    state.withLock {
      $0.received += batch.received
      $0.retainedIgnored += batch.retained
      $0.duplicatesIgnored += batch.duplicates
      for (code, count) in batch.rejected {
        $0.rejected += count
        $0.rejectedByCode[code, default: 0] += count
      }
      $0.requestsAnswered += batch.requestsAnswered
      $0.requestsRefused += batch.requestsRefused
    }
  }

  /// - Returns: whether this is news.
  @discardableResult
  func storeFailed(_ reason: String, at now: WireTime, inBatch: Bool) -> Bool {
    state.withLock {
      $0.listeningSince = nil
      let before = $0.storeProblem
      let reason = $0.unrepairable ?? reason
      $0.storeProblem = StoreProblem(
        reason: reason, since: before?.since ?? now,
        stopsIntake: inBatch || before?.stopsIntake == true, seen: now)
      return before?.reason != reason
    }
  }

  /// A write succeeded: that of a batch, or that of a tick.
  ///
  /// - Returns: whether this is news.
  @discardableResult
  func storeWorks(at now: WireTime, inBatch: Bool) -> Bool {
    state.withLock {
      guard let problem = $0.storeProblem, $0.failingReaders.isEmpty else { return false }
      let isQuiet =
        $0.isIntakeConnected && problem.seen.adding(seconds: Self.quietSeconds) <= now
      guard inBatch || !problem.stopsIntake || isQuiet else { return false }
      $0.storeProblem = nil
      if $0.isIntakeConnected { $0.listeningSince = now }
      return true
    }
  }
}
