import Testing

@testable import Bridge
@testable import Broker
@testable import Home
@testable import KeychainCore
@testable import SQLiteDatabase

@Suite("How the bridge is") struct BridgeMonitorTests {
  private let monitor = BridgeMonitor()
  private let now = WireTime(milliseconds: 0)

  @Test("A failure is news once, and keeps its beginning") func failure() {
    #expect(monitor.storeFailed("full", at: now, inBatch: true))
    #expect(!monitor.storeFailed("full", at: now.adding(seconds: 5), inBatch: true))
    #expect(monitor.storeFailed("read-only", at: now.adding(seconds: 9), inBatch: true))
    #expect(monitor.snapshot.storeProblem?.since == now)
    #expect(monitor.snapshot.intake == .init(.backingOff, "read-only"))
  }

  @Test("A batch that is written ends it; that is news once") func batchWorks() {
    #expect(!monitor.storeWorks(at: now, inBatch: true))
    monitor.storeFailed("full", at: now, inBatch: true)
    #expect(monitor.storeWorks(at: now, inBatch: true))
    #expect(!monitor.storeWorks(at: now, inBatch: true))
    #expect(monitor.snapshot.intake.state == .connecting)
  }

  @Test("A tick that is written ends what a tick began, and what a batch began after a quiet time") func tickWorks() {
    monitor.storeFailed("full", at: now, inBatch: false)
    #expect(monitor.storeWorks(at: now, inBatch: false))
    monitor.storeFailed("full", at: now, inBatch: true)
    let later = now.adding(seconds: BridgeMonitor.quietSeconds)
    #expect(!monitor.storeWorks(at: later, inBatch: false))
    monitor.update { $0.intakeLink.isConnected = true }
    #expect(!monitor.storeWorks(at: later.adding(seconds: -1), inBatch: false))
    #expect(monitor.storeWorks(at: later, inBatch: false))
    #expect(monitor.snapshot.intake.state == .running)
  }

  @Test("While stored messages cannot be read, no write that succeeds ends the problem") func reading() {
    let error = SQLiteError(kind: .io, message: "m")
    #expect(monitor.readFailed(error, path: "/x", at: now)?.contains("/x") == true)
    #expect(monitor.readFailed(error, path: "/x", at: now) == nil)
    #expect(!monitor.storeWorks(at: now, inBatch: true))
    monitor.readWorks()
    #expect(monitor.storeWorks(at: now, inBatch: false))
  }

  @Test("When the clock jumps, it is quiet since then") func clockJump() {
    monitor.storeFailed("full", at: now.adding(seconds: 100), inBatch: true)
    monitor.update { $0.intakeLink.isConnected = true }
    monitor.clockJumped(to: now)
    #expect(!monitor.storeWorks(at: now.adding(seconds: 1), inBatch: false))
    #expect(monitor.storeWorks(at: now.adding(seconds: BridgeMonitor.quietSeconds), inBatch: false))
  }

  @Test("When the clock jumps, the routers are listened to since then, if they are at all") func listening() {
    monitor.clockJumped(to: now)
    #expect(monitor.snapshot.listeningSince == nil)
    monitor.update { $0.listeningSince = now }
    monitor.clockJumped(to: now.adding(seconds: 86_400))
    #expect(monitor.snapshot.listeningSince == now.adding(seconds: 86_400))
  }

  @Test("Batches add up: retained messages apart, and events that were too many by their code") func counts() {
    var batch = CommittedBatch(time: now)
    batch.received = 9
    batch.duplicates = 2
    batch.dropped = 4
    for code in [Rejection.Code.badDataset, .badDataset, .rateLimited, .retained] {
      var outcome = LoopOutcome(home: "home")
      outcome.rejection = Rejection(code, message: "m")
      batch.add(outcome)
    }
    batch.add(LoopOutcome(home: "home"))
    for _ in 0..<2 { monitor.count(batch) }
    let snapshot = monitor.snapshot
    #expect(snapshot.received == 18)
    #expect(snapshot.retainedIgnored == 2)
    #expect(snapshot.duplicatesIgnored == 4)
    #expect(snapshot.rejected == 14)
    #expect(snapshot.rejectedByCode == ["bad_dataset": 4, "rate_limited": 10])
  }

  @Test("Health says how the intake is and why, and counts what the homes are shown with") func health() {
    let kind = HomeCounts.AlertKind(name: .homeMoved, severity: .warning)
    func health() -> BridgeHealth {
      var counts = HomeCounts()
      counts.networks = 3
      counts.alerts = [kind: 2]
      return BridgeHealth(
        status: DaemonStatus(
          monitor.snapshot, counts, RequestService.Figures(answered: 3, refused: 2, dropped: 1), waiting: 7,
          uptime: 61_500))
    }
    func says(_ fields: String...) -> Bool {
      let text = health().json().text
      return fields.allSatisfy { text.contains("\($0),") }
    }
    #expect(says(#""intake":"connecting""#, #""networks":3"#, #""alerts_active":2"#))
    #expect(!says(#""reason""#))
    monitor.update { $0.intakeLink.isConnected = true }
    #expect(says(#""intake":"running""#))
    monitor.storeFailed("full", at: now, inBatch: true)
    #expect(says(#""intake":"backing_off""#, #""reason":"full""#, #""alerts_active":2"#))
  }

  private func refusal(
    _ words: String = "refused", reason: MosquittoError.Reason = .credentials, wasConnected: Bool = false
  ) -> MosquittoDisconnection {
    MosquittoDisconnection(
      error: MosquittoError(reason, words), wasConnected: wasConnected, failures: 1, retryDelay: .seconds(1))
  }

  @Test("A session that is taken over is news once, and the reason until it is the daemon's again") func takeover() {
    for link in [MutualEnds.Connection.intake, .status] {
      let monitor = BridgeMonitor()
      let taken = refusal("same client id", reason: .sessionTakenOver, wasConnected: true)
      #expect(monitor.ended(link, taken) == (true, false))
      #expect(monitor.ended(link, taken) == (false, false))
      #expect(monitor.ended(link, refusal()).isNews)
      #expect(monitor.snapshot.takeover == "same client id")
      #expect(monitor.snapshot.intake.state == (link == .intake ? .backingOff : .connecting))
      monitor.update { $0.intakeLink.isConnected = true }
      #expect(monitor.snapshot.intake == .init(.running, "same client id"))
      monitor.regained(link)
      #expect(monitor.snapshot.takeover == nil && monitor.snapshot.intake.reason == nil)
    }
  }

  @Test("For a minute after one of its devices was altered no button decides") func altered() {
    func altered(_ topic: String, isButton: Bool, home: String = "home") -> Bool {
      monitor.noteAltered(.init(topic: topic, home: home, isDevice: true, isButton: isButton), at: now)
    }
    let (before, after) = (now.adding(seconds: 59), now.adding(seconds: 60))
    #expect(altered("router", isButton: false) && !altered("router", isButton: false))
    #expect(!monitor.refusesButtons(at: now))
    #expect(altered("router", isButton: false, home: "cabin"), "each home has its own alert")
    #expect(Set(monitor.altered(at: before).keys.map(\.home)) == ["home", "cabin"])
    #expect(!altered("button", isButton: true) && !altered("router", isButton: false))
    #expect(monitor.refusesButtons(at: before) && !monitor.refusesButtons(at: after))
    #expect(monitor.altered(at: after).isEmpty)
  }

  @Test("A login that is refused again for the same reason is no news") func refusedLogin() {
    #expect(monitor.ended(.intake, refusal()).isNews)
    #expect(!monitor.ended(.intake, refusal()).isNews)
    #expect(monitor.ended(.status, refusal()).isNews)
    #expect(monitor.ended(.intake, refusal("other words")).isNews)
    #expect(monitor.snapshot.login == .refused("other words"))
    monitor.loginChanged()
    #expect(monitor.snapshot.login == .unknown)
    #expect(monitor.ended(.intake, refusal("other words")).isNews)
  }

  @Test("Only a connection that was not made for the login's sake counts as refused") func otherEnds() {
    #expect(monitor.ended(.intake, refusal(reason: .nothingListens)).isNews)
    #expect(monitor.ended(.intake, refusal(wasConnected: true)).isNews)
    #expect(monitor.snapshot.login == .unknown)
    for link in [MutualEnds.Connection.intake, .status] { #expect(!monitor.accepted(link)) }
    #expect(monitor.snapshot.login == .accepted)
    #expect(monitor.ended(.intake, refusal(reason: .nothingListens)).isNews)
    #expect(monitor.snapshot.login == .accepted)
  }
}

@Suite("A failing store in words") struct StoreFailureTests {
  @Test(
    "Each failure names the path, and what to do",
    arguments: [
      (SQLiteError.Kind.full, "free some space"), (.readOnly, "writable again"), (.busy, "stop it"),
      (.corrupt, "backup"), (.notADatabase, "backup"), (.io, "check it"),
    ]) func kinds(kind: SQLiteError.Kind, words: String)
  {
    let reason = StoreFailure.reason(SQLiteError(kind: kind, message: "m"), path: "/var/store")
    #expect(reason.contains("/var/store"))
    #expect(reason.contains(words))
  }

  @Test("A full disk is one in whatever words it comes") func diskFull() {
    #expect(
      StoreFailure.reason(KeychainError(.diskFull, "m"), path: "/x")
        == StoreFailure.reason(SQLiteError(kind: .full, message: "m"), path: "/x"))
  }

  @Test("A damaged file is one in whatever words it comes") func damaged() {
    let error = SQLiteError(kind: .corrupt, message: "m")
    #expect(
      StoreFailure.reason(KeychainError(error, while: "reading"), path: "/x") == StoreFailure.reason(error, path: "/x"))
    // A record that does not open is not the file.
    #expect(StoreFailure.reason(KeychainError(.decode, "one record"), path: "/x") == "one record")
  }

  @Test("The keychain's own words are kept") func keychain() {
    #expect(StoreFailure.reason(KeychainError(.readOnly, "rolled back"), path: "/x") == "rolled back")
  }
}
