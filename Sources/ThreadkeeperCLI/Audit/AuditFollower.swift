// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon

/// Follows the audit: in the daemon that runs, also over its restart, and where none runs in the store itself.
struct AuditFollower {
  /// From one look to the next, for a daemon or in the store.
  private static let pause = Duration.milliseconds(300)
  /// In which a daemon that restarts answers again.
  private static let restartTime = Duration.seconds(3)

  let settings: Settings
  let show: ([AuditEntry]) throws -> Void
  /// Shows why nothing is followed: once, until something is.
  let warn: (String) throws -> Void
  /// The last record that was shown.
  private var shown: Int64?
  /// The parts of a record that have come so far.
  private var part: AuditEntry?
  /// The store, while no daemon answers.
  private var keychain: Keychain?
  private var hasAnswer = false
  /// Since when neither a daemon nor the store can be read; nil while one can.
  private var blindSince: ContinuousClock.Instant?
  private var hasWarned = false

  init(
    settings: Settings, show: @escaping ([AuditEntry]) throws -> Void,
    warn: @escaping (String) throws -> Void
  ) {
    self.settings = settings
    self.show = show
    self.warn = warn
  }

  /// - Parameter last: how many records to begin with.
  /// - Throws: whatever ends it.
  mutating func run(last: Int64) async throws -> Never {
    defer { keychain?.close() }
    while true {
      do {
        if try await !followDaemon(last) { try read(last) }
      } catch is DaemonClient.Ended {
        // The next one goes on.
      } catch let failure as CommandFailure where failure.status == .temporary && hasAnswer {
        // It is ending, or has no place free.
      }
      try await Task.sleep(for: Self.pause)
    }
  }

  /// Until the daemon ends.
  ///
  /// - Returns: false when no daemon listens.
  private mutating func followDaemon(_ last: Int64) async throws -> Bool {
    part = nil
    let reply = try await DaemonClient(settings: settings).follow(
      AuditMethods.follow, .init(after: shown, last: last)
    ) { entries in
      hasAnswer = true
      (blindSince, hasWarned) = (nil, false)
      keychain?.close()
      keychain = nil
      try take(entries)
    }
    return reply != nil
  }

  private mutating func take(_ entries: AuditMethods.Entries) throws {
    var whole: [AuditEntry] = []
    for entry in entries.records {
      var entry = entry
      if var before = part {
        before.append(entry)
        entry = before
      }
      part = entry.continues == true ? entry : nil
      if part == nil { whole.append(entry) }
    }
    try show(whole)
    shown = entries.last
  }

  private mutating func read(_ last: Int64) throws {
    do {
      let keychain = try open()
      (blindSince, hasWarned) = (nil, false)
      var number = shown ?? 0
      if shown == nil {
        let newest = try keychain.lastAuditRecord()
        number = newest - min(newest, last)
      }
      var entries: [AuditEntry] = []
      try keychain.forEachAuditRecord(after: number) { entries.append(AuditEntry($0)) }
      try show(entries)
      shown = entries.last?.number ?? number
    } catch let error as KeychainError {
      guard error.asksForReopening else { throw CommandFailure(error) }
      // The root keys are new.
      keychain?.close()
      keychain = nil
    }
  }

  private mutating func open() throws -> Keychain {
    if let keychain { return keychain }
    do {
      // Where a daemon answered without a key, none is asked for.
      let opened: Keychain
      if hasAnswer {
        opened = try OpenStore.forReading(settings, ask: { _ in nil })
      } else {
        opened = try OpenStore.forReading(settings)
      }
      keychain = opened
      return opened
    } catch let failure as CommandFailure where hasAnswer {
      // A daemon may have other keys than this command, and may come back at any time.
      try warnLater(failure)
      throw CommandFailure(.temporary, failure.message, remedy: failure.remedy)
    }
  }

  /// A daemon that restarts is no reason to warn.
  private mutating func warnLater(_ failure: CommandFailure) throws {
    let now = ContinuousClock.now
    let since = blindSince ?? now
    blindSince = since
    guard !hasWarned, now - since >= Self.restartTime else { return }
    hasWarned = true
    let remedy = failure.remedy.map { " \($0)" } ?? ""
    try warn(
      "No daemon runs, and the store cannot be read here: \(failure.message).\(remedy) The next records are "
        + "shown when a daemon runs again.")
  }
}
