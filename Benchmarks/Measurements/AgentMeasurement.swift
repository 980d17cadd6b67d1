import Broker
import Foundation

/// What the agent of a border router costs: processor time of each look at a router where nothing happens.
struct AgentMeasurement {
  /// Milliseconds that a look may take.
  static let goal = 3.0
  /// Seconds of a round; a look each.
  private static let seconds: UInt32 = 30
  private static let double = "Doubles/thread_routers.py"

  let workspace: Workspace
  let size: Size

  func run() throws -> Part {
    Progress.say("agent: \(Self.seconds) looks, \(size.rounds) times")
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let directory = try workspace.freshDirectory("routers")
    let routers = try ChildProcess(
      "/usr/bin/env", ["python3", Self.double, directory, "1"], reading: .error, takesInput: true)
    defer { routers.kill() }
    let ports = try ports(in: directory)
    _ = try ask(ports[1], "0/form", sending: Fleet.dataset)
    let agent = try ChildProcess(
      workspace.daemon,
      [
        "agent", "otbr", "http://127.0.0.1:\(ports[0])", "--poll", "1", "--username", "hub", "--host", "127.0.0.1",
        "--port", "\(broker.port)",
      ], reading: .error)
    defer { agent.end() }
    _ = try agent.line(containing: "connected to the broker")
    // What it does first is not what it does all day.
    sleep(5)
    var costs: [Double] = []
    for _ in 0..<size.rounds {
      let (first, before) = (try looks(ports[1]), try Self.work(of: agent.identifier))
      sleep(Self.seconds)
      let spent = try Self.work(of: agent.identifier) - before
      let count = try looks(ports[1]) - first
      guard count > 0 else { throw ChildProcess.Failure(description: "the agent does not look at its router") }
      costs.append(spent / Double(count) * 1e3)
    }
    return Part(
      "agent", "Agent of a border router",
      method: """
        Processor time of `threadkeeper agent otbr` with all its threads, for each look at an OpenThread Border Router
        (a double with its REST interface) on the same machine where nothing changes, with heartbeats to a broker:
        \(Self.seconds) looks a round, one each second.
        """,
      figures: [
        Figure("processor time of a look", costs.median, unit: .milliseconds, goal: .atMost(Self.goal), samples: costs)
      ])
  }

  /// Seconds of processor of a process and of all threads that it has had.
  private static func work(of process: Int32) throws -> Double {
    var (clock, time) = (clockid_t(), timespec())
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
      throw ChildProcess.Failure(description: "the agent has ended")
    }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// That of the router, and the control port.
  private func ports(in directory: String) throws -> [Int] {
    for _ in 0..<500 {
      let text = Machine.read("\(directory)/ports") ?? ""
      let ports = text.split(separator: "\n").compactMap { Int($0) }
      if ports.count == 2, text.hasSuffix("\n") { return ports }
      usleep(20_000)
    }
    throw ChildProcess.Failure(description: "\(Self.double) did not start")
  }

  private func looks(_ port: Int) throws -> Int {
    try ask(port, "0/journal").split(separator: "\n").count { $0.hasPrefix("GET /node/dataset/active ") }
  }

  private func ask(_ port: Int, _ path: String, sending body: String? = nil) throws -> String {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["curl", "-sf", "--max-time", "20", "http://127.0.0.1:\(port)/\(path)"]
      + (body.map { ["--data-binary", $0] } ?? [])
    process.standardOutput = pipe
    try process.run()
    let answer = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ChildProcess.Failure(description: "curl got no answer of \(Self.double)")
    }
    return String(decoding: answer, as: UTF8.self)
  }
}
