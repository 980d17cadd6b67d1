import Home
import HomeStore
import KeychainCore
import SodiumCrypto

/// What the daemon remembers of itself: the one record of home 0.
///
///     0 | form 1 | flags | trial: 16 | its tries | dropped: 8 | ran: 4 | prefixes: each its length, and its bytes
///     flags: 1 it runs, 2 the broker has had its session, 4 `dropped` is known
package struct DaemonNotes: Hashable, Sendable {
  /// Whether a process has not ended as it should.
  var isRunning = false
  /// Whether the broker has ever had the session of the connection that listens.
  package var hasSession = false
  /// The broker's last count of dropped messages; nil: none was seen.
  package var dropped: Int64?
  /// The last hour since 1970 in which it is known to have run; 0: none.
  var ranIn: UInt32 = 0
  /// The message that is tried alone.
  var trial = MessageTrial()
  /// Prefixes of Home Assistant's discovery below which the broker may hold devices.
  var prefixes: [ExactName] = []

  init() {}

  private static let form: UInt8 = 1

  var record: [UInt8] {
    let flags: UInt8 = (isRunning ? 1 : 0) | (hasSession ? 2 : 0) | (dropped == nil ? 0 : 4)
    return [0, Self.form, flags] + trial.hash + [trial.tries]
      + withUnsafeBytes(of: (dropped ?? 0).littleEndian) { Array($0) }
      + withUnsafeBytes(of: ranIn.littleEndian) { Array($0) }
      + prefixes.flatMap { [UInt8(clamping: $0.text.utf8.count)] + $0.text.utf8.prefix(255) }
  }

  /// - Returns: nil for what this version cannot have written.
  init?(_ record: [UInt8]) {
    let count = 4 + MessageTrial.hashLength + 8 + 4
    guard record.count >= count, record[0] == 0, record[1] == Self.form else { return nil }
    let flags = record[2]
    isRunning = flags & 1 != 0
    hasSession = flags & 2 != 0
    trial.hash = Array(record[3..<3 + MessageTrial.hashLength])
    trial.tries = record[3 + MessageTrial.hashLength]
    if flags & 4 != 0 { dropped = record[count - 12..<count - 4].reversed().reduce(0) { $0 << 8 | Int64($1) } }
    ranIn = record[count - 4..<count].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    var rest = record[count...]
    while let length = rest.popFirst() {
      guard length > 0, length <= rest.count, let text = String(validating: rest.prefix(Int(length)), as: UTF8.self)
      else { return nil }
      prefixes.append(ExactName(text))
      rest = rest.dropFirst(Int(length))
    }
  }
}

/// Remembers on disk which message is tried alone, so that one that ends the process is skipped in the end. The broker
/// sends first what was not acknowledged, so it is in the first batch after a process that did not end as it should.
struct MessageTrial: Hashable, Sendable {
  static let hashLength = 16
  /// Processes that may end while they handle the same message: more than a chance kill or power cut explains.
  static let limit: UInt8 = 3
  /// Messages that are tried alone: as many as a batch has at most.
  static let messages = 500

  fileprivate(set) var hash = [UInt8](repeating: 0, count: hashLength)
  fileprivate(set) var tries: UInt8 = 0

  /// - Returns: how many processes have ended while they handled it.
  mutating func begin(_ topic: String, _ payload: [UInt8], _ correlation: [UInt8]?) -> UInt8 {
    var new = [UInt8](repeating: 0, count: Self.hashLength)
    let message = Array(topic.utf8) + [0] + payload + [0] + (correlation ?? [])
    if let hash = try? BLAKE2b.hash256(message) { new = Array(hash.prefix(Self.hashLength)) }
    defer { tries = min(tries + 1, .max - 1) }
    guard new == hash else {
      hash = new
      tries = 0
      return 0
    }
    return tries
  }
}

/// The records of no home: what the daemon remembers of itself, what happened last, and the sealed requests that have
/// come.
struct DaemonRecords {
  private(set) var notes = DaemonNotes()
  /// Nil where there are none yet.
  private(set) var notesID: RecordID?
  private(set) var recent = RecentEvents()
  private(set) var recentID: RecordID?
  private(set) var sealed = SealedRequests()
  private(set) var sealedIDs: [Hash128: RecordID] = [:]
  /// Those that cannot be read.
  private(set) var damaged: [RecordID]

  init(_ loaded: LoadedStore) {
    damaged = loaded.damagedDaemonRecords
    for record in loaded.daemonRecords {
      if let notes = DaemonNotes(record.state) {
        (notesID, self.notes) = (record.id, notes)
      } else if let recent = RecentEvents(record.state) {
        (recentID, self.recent) = (record.id, recent)
      } else if let signer = sealed.load(record.state) {
        sealedIDs[signer] = record.id
      } else {
        damaged.append(record.id)
      }
    }
  }
}
