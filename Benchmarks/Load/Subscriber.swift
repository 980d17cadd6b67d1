/// A subscriber that the daemon is compared with, in a process of its own.
enum Subscriber: String, CaseIterable {
  /// libmosquitto's own loop and a callback that counts.
  case bare
  /// libmosquitto, and a commit to SQLite before each acknowledgement.
  case committing
  /// `Peers/paho_sqlite.py`.
  case paho

  /// As long as the daemon's, so that the broker has the same bytes to move.
  var base: String {
    switch self {
    case .bare: "bare-counter"
    case .committing: "commit-every"
    case .paho: "paho-sqlite3"
    }
  }

  var words: String {
    switch self {
    case .bare: "bare libmosquitto in C, stores nothing"
    case .committing: "libmosquitto and SQLite in C, one commit a message"
    case .paho: "paho and SQLite in Python, one commit a message"
    }
  }

  /// Starts it, and returns when its subscription is granted, or when it has all: what was kept for it comes first.
  func start(expecting count: Int, database: String, _ helper: Helper, _ peers: Peers) throws -> ChildProcess {
    let filter = "\(base)/in/#"
    let (port, expected) = ("\(helper.port)", "\(count)")
    let child: ChildProcess
    switch self {
    case .bare:
      child = try ChildProcess(
        helper.program, ["subscribe", port, filter, expected, "--window", "\(Helper.window)"], reading: .output)
    case .committing:
      child = try ChildProcess(
        helper.program, ["subscribe", port, filter, expected, "--window", "\(Helper.window)", "--database", database],
        reading: .output)
    case .paho:
      child = try peers.start("paho_sqlite.py", [peers.paho, port, filter, expected, "\(Helper.window)", database])
    }
    _ = try child.line(containing: ["ready", "done"])
    return child
  }
}
