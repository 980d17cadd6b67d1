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

  /// One of the two connections, as far as this process knows.
  package struct Connection: Sendable {
    package var isConnected = false
    /// What the broker answered last. That it is away changes nothing.
    var login = Login.unknown
    /// Why the session counts as taken over, until it has been the daemon's own for long enough.
    var takeover: String?

    /// It has ended, or was not made.
    ///
    /// - Returns: whether that is news. A login that is refused again for the same reason is not, for it is tried as
    ///   long as the daemon runs; nor is another turn of a contest about the session.
    mutating func end(_ event: MosquittoDisconnection) -> Bool {
      isConnected = false
      switch event.error.reason {
      // A connection that was let in is lost for another reason, whatever it is called.
      case .credentials where !event.wasConnected:
        let refused = Login.refused(event.error.message)
        defer { login = refused }
        return login != refused
      case .sessionTakenOver:
        defer { takeover = event.error.message }
        return takeover == nil
      default: return true
      }
    }
  }

  package struct Snapshot: Sendable {
    package var intakeLink = Connection()
    package var statusLink = Connection()
    /// Since when everything that routers publish has been received and kept. A router that is not listened to is not
    /// silent.
    package var listeningSince: WireTime?
    /// Connections of the status connection since the start.
    var statusConnections: Int64 = 0
    package var lastConnectionProblem: String?
    package var storeProblem: StoreProblem?
    /// Stored messages cannot be read.
    var isReadFailing = false
    var mutualEnds = MutualEnds()
    package var takeover: String? { intakeTakeover ?? statusLink.takeover }
    private var intakeTakeover: String? { mutualEnds.isOpen ? MutualEnds.reason : intakeLink.takeover }
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
      if intakeLink.isConnected { return .init(.running, takeover ?? anotherDaemon) }
      return intakeTakeover.map { .init(.backingOff, $0) } ?? .init(.connecting, lastConnectionProblem)
    }

    /// Refused as long as one of the connections is, accepted when both are.
    package var login: Login {
      switch (intakeLink.login, statusLink.login) {
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
