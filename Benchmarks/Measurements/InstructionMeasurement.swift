import Broker
import Foundation

/// Instructions that the daemon runs for a message, counted by valgrind's callgrind: unlike times, they do not depend on
/// what else the machine does.
struct InstructionMeasurement {
  private static let warm = 100

  let workspace: Workspace
  let peers: Peers
  /// Of each kind.
  let messages: Int

  func run() throws -> Part {
    guard let valgrind = peers.valgrind, let objcopy = peers.objcopy else {
      let name = peers.valgrind == nil ? "valgrind" : "objcopy"
      Progress.say("instructions: without \(name) (Debian's \(name == "objcopy" ? "binutils" : name))")
      return part([:], missing: ["Instructions are left out: there is no \(name) on this machine."])
    }
    Progress.say("instructions: \(messages) messages each")
    let directory = try workspace.freshDirectory("instructions")
    let program = "\(directory)/threadkeeper"
    // Valgrind does not understand the debug information of a program in Swift.
    try Self.run(objcopy, ["--strip-debug", workspace.daemon, program])
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let callgrind = ["--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=\(directory)/counts"]
    let daemon = try DaemonProcess(workspace, port: broker.port, command: valgrind.command + callgrind + [program])
    defer { daemon.stop() }
    try daemon.start(within: 180)
    try daemon.waitForIdle()
    var dumps = 0
    /// What each thread did since the last time.
    func count() throws -> [String: Double] {
      guard let process = daemon.identifier else { return [:] }
      try Self.run(valgrind.control, ["--pid=\(process)", "dump"])
      dumps += 1
      return try Self.counts(of: dumps, in: directory)
    }
    let helper = Helper(program: workspace.helper, port: broker.port)
    func send(_ kind: Fleet.Kind, _ numbers: Range<Int>, marker: Int) throws {
      let load = Fleet().packets(kind, numbers, marker: marker, base: DaemonProcess.base)
      daemon.routers += kind == .first ? Int64(load.count) : 1
      _ = try helper.publish(load, from: workspace.fresh("packets"))
      _ = try daemon.waitForRouters()
      try daemon.waitForQuiet()
      try daemon.waitForIdle()
    }
    // What only the first messages cost is not counted.
    try send(.first, 0..<Self.warm, marker: Self.warm)
    _ = try count()
    var counts: [Fleet.Kind: [String: Double]] = [:]
    let numbers = (Self.warm + 1)..<(Self.warm + 1 + messages)
    for (step, kind) in Fleet.Kind.allCases.enumerated() {
      try send(kind, numbers, marker: numbers.upperBound + step)
      counts[kind] = try count()
      Progress.say("  \(kind.words): counted")
    }
    return part(counts, missing: [])
  }

  private func part(_ counts: [Fleet.Kind: [String: Double]], missing: [String]) -> Part {
    var table = Table("message", .right("intake"), .right("other threads"))
    var figures: [Figure] = []
    // Heartbeats bring nothing to publish: the thread that they keep busy is the one that takes messages in.
    let thread = counts[.steadyHeartbeat]?.max { $0.value < $1.value }?.key
    /// For a message. At the end of the others there is one first announcement.
    func cost(_ kind: Fleet.Kind, _ sum: ([String: Double]) -> Double) -> Double {
      let first = sum(counts[.first] ?? [:]) / Double(messages + 1)
      return kind == .first ? first : max(0, sum(counts[kind] ?? [:]) - first) / Double(messages)
    }
    for kind in Fleet.Kind.allCases {
      guard let thread, counts[kind] != nil else { continue }
      let intake = cost(kind) { $0[thread] ?? 0 }
      let whole = cost(kind) { $0.values.reduce(0, +) }
      table.add(kind.word, intake.grouped, (whole - intake).grouped)
      figures += [
        Figure("instructions of \(kind.article) \(kind.word), intake", intake, unit: .instructions),
        Figure("instructions of \(kind.article) \(kind.word), whole daemon", whole, unit: .instructions),
      ]
    }
    var part = Part(
      "instructions", "Instructions of a message",
      method: """
        Counted by callgrind while \(messages.grouped) messages of each kind arrive live: the thread that takes messages
        in; and all others, which publish what follows. Unlike times, they do not depend on what else the machine does;
        system calls are not in them. Under valgrind a commit holds fewer messages than otherwise, because it is not put
        off for longer than 250 ms.
        """, table: table, figures: figures)
    part.missing = missing
    return part
  }

  /// The totals of a dump, a file for each thread: `counts.2-08`, with a line `totals: 21957694`.
  private static func counts(of dump: Int, in directory: String) throws -> [String: Double] {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
    return names.reduce(into: [:]) { counts, name in
      let mark = "counts.\(dump)-"
      guard name.hasPrefix(mark), let text = Machine.read("\(directory)/\(name)") else { return }
      let line = text.split(separator: "\n").last { $0.hasPrefix("totals:") }
      counts[String(name.dropFirst(mark.count))] = line?.split(separator: " ").last.flatMap { Double($0) }
    }
  }

  private static func run(_ program: String, _ arguments: [String]) throws {
    let child = try ChildProcess(program, arguments, reading: .error)
    child.wait()
    guard child.endedWell else { throw ChildProcess.Failure(description: "\(child.name) has failed") }
  }
}
