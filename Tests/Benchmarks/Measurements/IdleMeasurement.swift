// SPDX-License-Identifier: Apache-2.0

import CBareSubscriber
import EmbeddedBroker
import Foundation

/// What the daemon needs while nothing happens, and how fast it is there.
struct IdleMeasurement {
  static let memoryGoal = 25.0
  static let startGoal = 50.0
  /// A large home.
  private static let routers = 50

  let workspace: Workspace
  let size: Size

  func run() throws -> [Figure] {
    let broker = try workspace.startBroker()
    defer { broker.stop(removingFiles: true) }
    let daemon = try DaemonProcess(workspace, port: broker.port)
    defer { daemon.stop() }
    try fill(daemon, port: broker.port)

    Progress.say("start: \(size.starts) times")
    let relay = try ConnackRelay(to: broker.port)
    daemon.port = relay.port
    var first: [Double] = []
    var both: [Double] = []
    for _ in 0..<size.starts {
      relay.reset()
      let child = try daemon.launch()
      let answers = try relay.waitForAnswers(2)
      first.append(Double(answers[0] - child.startedAt) / 1e6)
      both.append(Double(answers[1] - child.startedAt) / 1e6)
      daemon.stop()
    }
    daemon.port = broker.port
    try daemon.start()
    Progress.say("memory: five quiet seconds")
    sleep(5)
    let memory = daemon.residentMemory / 1e6
    return [
      Figure(
        "exec to CONNACK, both connections", both.median, unit: .milliseconds,
        goal: .atMost(Self.startGoal), samples: both,
        note:
          "the first one \(first.median.formatted(1)) ms, slowest \((both.max() ?? 0).formatted(1)) ms"
      ),
      Figure(
        "idle: resident memory", memory, unit: .megabytes, goal: .atMost(Self.memoryGoal),
        samples: [], note: "\(Self.routers) routers"),
    ]
  }

  private func fill(_ daemon: DaemonProcess, port: UInt16) throws {
    try daemon.start()
    daemon.routers = Int64(Self.routers) + 1
    _ = try Helper(program: workspace.helper, port: port).publish(
      Fleet().packets(.first, 0..<Self.routers, marker: Self.routers, base: DaemonProcess.base),
      from: workspace.fresh("packets"))
    _ = try daemon.waitForRouters()
    try daemon.waitForQuiet()
    daemon.stop()
  }
}
