import CBareSubscriber
import Foundation

/// A node of a fleet. Its program has to be built with the trait `Fleet`.
final class NodeProcess {
  static let base = "bench"

  let name: String
  private let program: String
  private let directory: String
  private let settings: String
  private(set) var child: ChildProcess?

  /// - Parameter shards: so many it may have.
  init(_ workspace: Workspace, _ name: String, port: UInt16, url: String, shards: Int = 1) throws {
    self.name = name
    program = try workspace.daemon
    directory = try workspace.freshDirectory("node")
    settings = "\(directory)/threadkeeper.yaml"
    let text = """
      mqtt:
        host: 127.0.0.1
        port: \(port)
        base_topic: \(Self.base)
      store:
        url: "\(url)"
        path: \(directory)/store
      fleet:
        node: \(name)
        address: localhost
        shards_at_most: \(shards)
        connections: 8
        seal_command: [base64, -w0]
        unseal_command: [base64, -d]
      limits:
        # One login announces all of them, as fast as it can.
        routers_per_team: 100000
        routers: 100000
        events_per_second: 10000
        events_burst: 1000000
      http: {enabled: false}
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: settings))
    // The address of a database may have a password.
    chmod(settings, 0o600)
  }

  deinit { child?.end() }

  /// Runs one of the commands `fleet` with its settings.
  func command(_ arguments: String...) throws {
    let child = try ChildProcess(program, ["fleet"] + arguments + ["--config", settings], reading: .error)
    child.wait()
    guard child.endedWell else {
      let words = try? child.line(containing: "", within: 1).text
      throw ChildProcess.Failure(description: "fleet \(arguments): \(words ?? "")")
    }
  }

  /// Starts it. Returns at once.
  @discardableResult func launch() throws -> ChildProcess {
    let child = try ChildProcess(
      program, ["run", "--config", settings, "--state-directory", "\(directory)/state"], reading: .error)
    self.child = child
    return child
  }

  /// Starts it and waits until it serves these shards.
  ///
  /// - Returns: when the broker had accepted the first of them.
  @discardableResult func start(_ shards: Range<Int>, within limit: Double = 60) throws -> Int64 {
    let connected = try launch().line(containing: "intake connected", within: limit).time
    try wait(for: shards, within: limit)
    return connected
  }

  /// Waits until the broker has answered the subscriptions of these shards.
  func wait(for shards: Range<Int>, within limit: Double = 60) throws {
    let deadline = bare_now() + Int64(limit * 1e9)
    for shard in shards {
      while !serves(shard) {
        guard bare_now() < deadline else {
          throw ChildProcess.Failure(description: "\(name) does not serve shard \(shard)")
        }
        usleep(5_000)
      }
    }
  }

  private func serves(_ shard: Int) -> Bool {
    guard let text = try? LocalCaller("\(directory)/store/shards/\(shard)/varlink.sock").call("Status.Get"),
      let reply = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
      let parameters = reply["parameters"] as? [String: Any], let status = parameters["status"] as? [String: Any]
    else { return false }
    return (status["intake"] as? [String: Any])?["state"] as? String == "running"
  }

  /// Ends it cleanly; its shards go to others.
  func stop() {
    child?.end()
    child = nil
  }

  /// Ends it as a crash does.
  func kill() {
    child?.kill()
    child = nil
  }

  /// Nanoseconds that each of its threads was at work.
  var work: ThreadWork { child.map { ThreadWork(of: $0.identifier) } ?? ThreadWork() }

  /// Waits until its threads have next to nothing to do.
  ///
  /// - Parameter share: of one processor.
  func waitForIdle(share: Double = 0.02, within limit: Double = 300) throws {
    let deadline = bare_now() + Int64(limit * 1e9)
    var idle = 0
    while idle < 3 {
      let before = work.total
      usleep(500_000)
      idle = work.total - before < share * 5e8 ? idle + 1 : 0
      guard bare_now() < deadline else { throw ChildProcess.Failure(description: "\(name) does not come to rest") }
    }
  }
}
