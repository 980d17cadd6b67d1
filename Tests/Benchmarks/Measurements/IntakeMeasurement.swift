// SPDX-License-Identifier: Apache-2.0

import EmbeddedBroker

/// How messages reach a subscriber.
enum Delivery: String, CaseIterable {
  /// It is there while they are published.
  case live
  /// It was away, and the broker kept them.
  case backlog

  /// What the daemon is to reach, as a part of what the bare subscriber does.
  func goal(_ kind: Fleet.Kind) -> Double {
    switch (self, kind) {
    case (.live, .first): 0.35
    case (.backlog, .first): 0.15
    case (.live, _): 0.7
    case (.backlog, _): 0.35
    }
  }
}

/// Messages a second of the daemon and of the bare subscriber, one after the other on one broker.
struct IntakeMeasurement {
  /// First announcements a second that two quiet cores must bring.
  static let floor = 15_000.0

  let workspace: Workspace
  let size: Size
  let ways: [Delivery]

  /// What was measured of one pair, round by round.
  struct Samples {
    var daemon: [Double] = []
    var bare: [Double] = []
    /// Microseconds of processor time that the daemon used for a message.
    var cost: [Double] = []
  }

  func run() throws -> [Figure] {
    var samples: [String: Samples] = [:]
    var memory: [Double] = []
    for round in 1...size.rounds {
      Progress.say("intake: round \(round) of \(size.rounds), \(size.messages) messages each")
      let broker = try workspace.startBroker()
      defer { broker.stop(removingFiles: true) }
      var stage = try IntakeStage(workspace: workspace, port: broker.port, messages: size.messages)
      for way in ways {
        for kind in Fleet.Kind.allCases {
          let pair = try stage.measure(kind, way)
          samples["\(way) \(kind)", default: Samples()].add(pair)
          Progress.say(
            "  \(way), \(kind.words): daemon \(Int(pair.daemon))/s, bare \(Int(pair.bare))/s, "
              + "ratio \((pair.daemon / pair.bare).formatted(2))")
        }
      }
      memory.append(stage.daemon.residentMemory)
      stage.daemon.stop()
    }
    return figures(samples, memory: memory)
  }

  private func figures(_ samples: [String: Samples], memory: [Double]) -> [Figure] {
    var figures: [Figure] = []
    for way in ways {
      for kind in Fleet.Kind.allCases {
        guard let one = samples["\(way) \(kind)"] else { continue }
        let ratios = zip(one.daemon, one.bare).map { $0 / $1 }
        figures.append(
          Figure(
            "\(way): \(kind.words)", ratios.median, unit: .ratio, goal: .atLeast(way.goal(kind)),
            samples: ratios,
            note: "daemon \(Int(one.daemon.median))/s, bare \(Int(one.bare.median))/s, "
              + "\(one.cost.median.formatted(1)) µs of processor a message"))
      }
    }
    if let first = samples["\(Delivery.live) \(Fleet.Kind.first)"] {
      figures.append(
        Figure(
          "live: first announcements a second", first.daemon.median, unit: .perSecond,
          goal: .atLeast(Self.floor), samples: first.daemon, note: "on two quiet cores"))
    }
    figures.append(
      Figure(
        "memory after the load", memory.median / 1e6, unit: .megabytes, goal: nil, samples: memory,
        note: "with \(size.messages * ways.count) routers"))
    return figures
  }
}

extension IntakeMeasurement.Samples {
  mutating func add(_ pair: IntakeStage.Pair) {
    daemon.append(pair.daemon)
    bare.append(pair.bare)
    cost.append(pair.cost)
  }
}
