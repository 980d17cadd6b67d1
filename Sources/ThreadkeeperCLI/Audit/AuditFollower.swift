// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import ThreadkeeperDaemon

/// Follows the audit: in the daemon that runs, also over its restart, and where none runs in the store itself.
struct AuditFollower {
  /// From one look to the next, for a daemon or in the store.
  private static let pause = Duration.milliseconds(300)

  let settings: Settings
  let show: ([AuditEntry]) throws -> Void
  /// Shows, once, what is not followed and why.
  let warn: (String) throws -> Void
  /// The last record that was shown.
  private var shown: Int64?
  /// The parts of a record that have come so far.
  private var part: AuditEntry?
  /// The store, while no daemon answers.
  private var keychain: Keychain?
  private var hasAnswer = false
  /// A daemon may have other keys than this command.
  private var canRead = true

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
      canRead = true
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
    guard canRead else { return }
    do {
      guard let keychain = try open() else { return }
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

  /// - Returns: nil where this command has no key for it.
  private mutating func open() throws -> Keychain? {
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
      canRead = false
      try warn(
        "threadkeeper has ended, and the store cannot be read without it: \(failure.message)."
          + " The next records are shown when it runs again.")
      return nil
    }
  }
}
