import Broker
import Foundation

/// Look-ups of credentials through the local API, one after the other on one connection.
struct LocalAPIMeasurement {
  /// Microseconds by the clock.
  private static let goal = 70.0
  private static let items = 1_000
  private static let lookups = 5_000

  let workspace: Workspace
  let size: Size

  func run() throws -> Part {
    Progress.say("local API: \(Self.lookups) look-ups, \(size.rounds) times")
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let daemon = try DaemonProcess(workspace, port: broker.port)
    defer { daemon.stop() }
    try daemon.start()
    let storing = try LocalCaller(daemon.socket)
    for number in 0..<Self.items {
      _ = try storing.call(
        "Credentials.Store", #""border_agent_id":"\#(Fleet.agent(number))","dataset":"\#(Fleet.dataset)""#)
    }
    var (elapsed, work): ([Double], [Double]) = ([], [])
    for _ in 0..<size.rounds {
      let caller = try LocalCaller(daemon.socket)
      let before = daemon.work
      let time = try Stopwatch(of: Self.lookups) {
        for _ in 0..<Self.lookups {
          let reply = try caller.call(
            "Credentials.Get", #""border_agent_id":"\#(Fleet.agent(Int.random(in: 0..<Self.items)))""#)
          guard reply.contains("\"dataset\":\"\(Fleet.dataset.prefix(16))") else {
            throw StoreFailure(description: "a look-up was answered `\(reply.prefix(300))`")
          }
        }
      }
      elapsed.append(time.elapsed)
      work.append((daemon.work - before).total / Double(Self.lookups) / 1e3)
    }
    var table = Table("", .right("median, µs"), .right("best, µs"))
    table.add("call to reply, by the clock", elapsed.median.formatted(1), (elapsed.min() ?? 0).formatted(1))
    table.add("processor time of the daemon, all threads", work.median.formatted(1), (work.min() ?? 0).formatted(1))
    return Part(
      "local", "Look-up through the local API",
      method: """
        `io.threadkeeper.Credentials.Get` with the secret, \(Self.lookups.grouped) times one after the other on one
        connection of `varlink.sock`, in a store of \(Self.items.grouped) credentials.
        """, table: table,
      figures: [
        Figure(
          "look-up through the local API, by the clock", elapsed.median, unit: .microseconds, goal: .atMost(Self.goal),
          samples: elapsed),
        Figure("processor time of a look-up through the local API", work.median, unit: .microseconds, samples: work),
      ])
  }
}
