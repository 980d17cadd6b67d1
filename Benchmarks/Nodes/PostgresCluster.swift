import CBareSubscriber
import Foundation

/// A PostgreSQL of the benchmark's own, durable as it is by default, on the disk of the stores and on a Unix socket.
final class PostgresCluster {
  struct Missing: Error, CustomStringConvertible { let description: String }

  private static let port = "5432"

  private let directory: String
  private let programs: String
  private let server: ChildProcess
  private let session: ChildProcess

  /// How libpq reaches it.
  var url: String { "host=\(directory) port=\(Self.port) dbname=postgres user=postgres" }

  /// - Parameter tools: where `.ci/test-tools` has unpacked one that is not installed.
  init(_ workspace: Workspace, tools: String, settings: [String] = []) throws {
    programs = try Self.find(in: ["", "\(tools)/postgresql"])
    directory = try workspace.freshDirectory("postgres")
    // It refuses to run as root, and its user has to reach its own directory.
    let owner = getuid() == 0 ? getpwnam("postgres") ?? getpwnam("nobody") : nil
    if let owner {
      chown(directory, owner.pointee.pw_uid, owner.pointee.pw_gid)
      chmod(workspace.path, 0o711)
    }
    let prefix =
      owner.map {
        ["/usr/bin/setpriv", "--reuid=\($0.pointee.pw_uid)", "--regid=\($0.pointee.pw_gid)", "--clear-groups"]
      } ?? []
    let data = "\(directory)/data"
    try Self.run(
      prefix + ["\(programs)/initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"])
    let all = [
      "listen_addresses=", "shared_buffers=512MB", "max_wal_size=8GB", "max_connections=200",
      "checkpoint_timeout=15min",
    ]
    let command =
      prefix + ["\(programs)/postgres", "-D", data, "-k", directory, "-p", Self.port]
      + (all + settings).flatMap { ["-c", $0] }
    server = try ChildProcess(command[0], Array(command.dropFirst()), reading: .error)
    _ = try server.line(containing: "ready to accept connections")
    session = try ChildProcess(
      "\(programs)/psql", ["-XAtq", "-d", "host=\(directory) port=\(Self.port) dbname=postgres user=postgres"],
      reading: .output, takesInput: true)
  }

  /// As systemd stops it: connections are closed.
  func stop() {
    session.end()
    if server.isRunning { kill(server.identifier, SIGINT) }
    server.wait()
  }

  /// The one value that a query returns.
  func value(_ query: String, within limit: Double = 120) throws -> String {
    try session.write("SELECT coalesce((\(query))::text, '');")
    return try session.nextLine(within: limit).text
  }

  func number(_ query: String, within limit: Double = 120) throws -> Int64 {
    Int64(try value(query, within: limit)) ?? 0
  }

  /// A statement that returns nothing.
  func execute(_ statement: String) throws {
    try session.write("\(statement);")
    _ = try number("SELECT 1", within: 600)
  }

  /// Waits until a query has a number that is large enough.
  ///
  /// - Returns: when it did.
  func wait(until query: String, reaches goal: Int64, within limit: Double = 180, pause: UInt32 = 3_000) throws -> Int64
  {
    let deadline = bare_now() + Int64(limit * 1e9)
    while true {
      let value = try number(query)
      if value >= goal { return bare_now() }
      guard bare_now() < deadline else {
        throw ChildProcess.Failure(description: "`\(query)` is \(value), and not \(goal)")
      }
      usleep(pause)
    }
  }

  /// The newest record of each shard: ids count up.
  static let newest = """
    SELECT s.id, (SELECT max(r.id) FROM threadkeeper.record r WHERE r.shard = s.id) AS newest
    FROM threadkeeper.shard s
    """

  /// How many shards have a new record since they were marked.
  static let changed = """
    SELECT count(*) FROM mark JOIN (\(newest)) now USING (id) WHERE now.newest > mark.newest
    """

  /// Remembers the newest record of each shard.
  func mark() throws {
    try execute("DROP TABLE IF EXISTS mark")
    try execute("CREATE TABLE mark AS \(Self.newest)")
  }

  /// All of its processes.
  var processes: [Int32] { [server.identifier] + ProcessTable.children(of: server.identifier) }

  private static func find(in roots: [String]) throws -> String {
    let files = FileManager.default
    for root in roots {
      let versions = (try? files.contentsOfDirectory(atPath: "\(root)/usr/lib/postgresql")) ?? []
      for version in versions.compactMap({ Int($0) }).sorted(by: >) {
        let path = "\(root)/usr/lib/postgresql/\(version)/bin"
        if files.isExecutableFile(atPath: "\(path)/initdb") { return path }
      }
    }
    throw Missing(description: "there is no PostgreSQL on this machine")
  }

  private static func run(_ command: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ChildProcess.Failure(description: "\(command) ended with \(process.terminationStatus)")
    }
  }
}

/// What the kernel counts for processes.
enum ProcessTable {
  static func children(of parent: Int32) -> [Int32] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { Int32($0) }.filter { fields(of: $0).dropFirst().first == "\(parent)" }
  }

  /// Seconds that processes have kept a processor busy.
  static func seconds(of processes: [Int32]) -> Double {
    processes.reduce(0) { sum, process in
      let fields = fields(of: process)
      guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return sum }
      return sum + (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
  }

  /// Bytes of memory that are theirs; what several share counts for each with its part (`Pss` of smaps_rollup).
  static func memory(of processes: [Int32]) -> Double {
    processes.reduce(0) { sum, process in
      let text = Machine.read("/proc/\(process)/smaps_rollup") ?? ""
      let line = text.split(separator: "\n").first { $0.hasPrefix("Pss:") } ?? ""
      return sum + (Double(line.filter(\.isNumber)) ?? 0) * 1024
    }
  }

  /// After the name in brackets: state, parent, … (proc(5)).
  private static func fields(of process: Int32) -> [Substring] {
    let status = Machine.read("/proc/\(process)/stat") ?? ""
    return (status.split(separator: ")").last ?? "").split(separator: " ")
  }
}
