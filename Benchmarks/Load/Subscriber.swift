/// A subscriber that the daemon is compared with, in a process of its own.
enum Subscriber: String, CaseIterable {
  /// libmosquitto's own loop and a callback that counts.
  case bare
  /// libmosquitto, and what the daemon stores of a first announcement, sealed, with a commit for many messages.
  case sealing
  /// libmosquitto, and a commit to SQLite before each acknowledgement.
  case committing
  /// `Peers/paho_sqlite.py`.
  case paho

  /// As long as the daemon's, so that the broker has the same bytes to move.
  var base: String {
    switch self {
    case .bare: "bare-counter"
    case .sealing: "sealed-batch"
    case .committing: "commit-every"
    case .paho: "paho-sqlite3"
    }
  }

  var words: String {
    switch self {
    case .bare: "bare libmosquitto in C, stores nothing"
    case .sealing: "libmosquitto, two seals and SQLite in C, 500 messages a commit"
    case .committing: "libmosquitto and SQLite in C, one commit a message"
    case .paho: "paho and SQLite in Python, one commit a message"
    }
  }

  /// Whether it makes a commit for each message.
  var isSlow: Bool { self == .committing || self == .paho }

  /// Starts it, and returns when its subscription is granted, or when it has all: what was kept for it comes first.
  ///
  /// - Parameter stored: what the daemon stores of a message.
  func start(expecting count: Int, database: String, _ stored: StoredBytes, _ helper: Helper, _ peers: Peers) throws
    -> ChildProcess
  {
    let filter = "\(base)/in/#"
    let (port, expected) = ("\(helper.port)", "\(count)")
    let own = ["subscribe", port, filter, expected, "--window", "\(Helper.window)"]
    let child: ChildProcess
    switch self {
    case .bare: child = try ChildProcess(helper.program, own, reading: .output)
    case .sealing:
      child = try ChildProcess(
        helper.program,
        own + [
          "--database", database, "--state", "\(stored.state)", "--secret", "\(stored.secret)", "--event",
          "\(stored.event)",
        ], reading: .output)
    case .committing: child = try ChildProcess(helper.program, own + ["--database", database], reading: .output)
    case .paho:
      child = try peers.start("paho_sqlite.py", [peers.paho, port, filter, expected, "\(Helper.window)", database])
    }
    _ = try child.line(containing: ["ready", "done"])
    return child
  }
}

/// Bytes of the rows that the daemon stores of a first announcement.
struct StoredBytes {
  var state = 301
  var secret = 301
  var event = 520
}
