import Broker
import Home
import Synchronization

/// How the bridge is, kept in memory: what `bridge/health` shows, and what cannot be stored because the
/// store itself is what fails.
package final class BridgeMonitor: Sendable {
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
    /// Stored messages cannot be read.
    var isReadFailing = false
    /// What the broker answered last to each of the two connections. That the broker is away changes nothing.
    var intakeLogin = Login.unknown
    var statusLogin = Login.unknown
    /// Why a session counts as taken over, until it has been the daemon's own for long enough.
    var intakeTakeover: String?
    var statusTakeover: String?
    var mutualEnds = MutualEnds()
    package var takeover: String? { mutualEnds.isOpen ? MutualEnds.reason : intakeTakeover ?? statusTakeover }
    package var intakeReconnects: Int64 = 0
    package var received: Int64 = 0
    package var rejected: Int64 = 0
    /// The same by the code of the rejection, of which there are few.
    package var rejectedByCode: [String: Int64] = [:]
    package var retainedIgnored: Int64 = 0
    package var duplicatesIgnored: Int64 = 0
    package var publicationsRefused: Int64 = 0
    /// What the broker does not take now.
    package var refused: Refusal?
    /// What another client has altered last, by the alert about that and its home.
    var altered: [AlteredTopic.Key: AlteredTopic] = [:]
    /// That there is another daemon, and what it means.
    var anotherDaemon: String?
    /// When another client altered one with buttons.
    var alteredButtonAt: WireTime?

    package var intake: DaemonStatus.Intake {
      if let storeProblem { return .init(.backingOff, storeProblem.reason) }
      if isIntakeConnected { return .init(.running, takeover ?? anotherDaemon) }
      let takeover = mutualEnds.isOpen ? MutualEnds.reason : intakeTakeover
      return takeover.map { .init(.backingOff, $0) } ?? .init(.connecting, lastConnectionProblem)
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

  package let figures = BridgeFigures()
  private let state = Mutex(Snapshot())

  package init() {}

  package var snapshot: Snapshot { state.withLock { $0 } }

  func update<R: Sendable>(_ change: (inout Snapshot) -> R) -> R { state.withLock { change(&$0) } }

  // MARK: Counting

  func count(_ batch: CommittedBatch) {
    update {
      $0.received += Int64(batch.received)
      $0.retainedIgnored += batch.retainedIgnored
      $0.duplicatesIgnored += Int64(batch.duplicates)
      for (code, rejected) in batch.rejections {
        $0.rejected += Int64(rejected.count)
        $0.rejectedByCode[code, default: 0] += Int64(rejected.count)
      }
    }
  }
}
