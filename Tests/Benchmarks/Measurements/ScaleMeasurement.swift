// SPDX-License-Identifier: Apache-2.0

/// Thread credentials in a large store, beside a store of a thousand.
struct ScaleMeasurement {
  /// Times a look-up in the small store.
  static let findGoal = 2.0
  /// MB of a million credentials.
  static let fileGoal = 1_000.0
  private static let few = 1_000
  private static let turn = 100
  /// Turns that bring the pages into memory, and turns that are counted.
  private static let turns = (warm: 300, counted: 300)

  let workspace: Workspace
  let routers: Int

  func run() throws -> [Figure] {
    let small = try CredentialStore(in: workspace.freshDirectory("small"), routers: Self.few)
    try small.fill()
    Progress.say("scale: adding \(routers) Thread credentials")
    let large = try CredentialStore(in: workspace.freshDirectory("large"), routers: routers)
    let adding = try Stopwatch(of: routers) { try large.fill() }
    Progress.say("scale: looking up")
    var times: [(small: Stopwatch, large: Stopwatch)] = []
    for turn in 0..<(Self.turns.warm + Self.turns.counted) {
      let pair = try (Self.find(in: small), Self.find(in: large))
      if turn >= Self.turns.warm { times.append(pair) }
    }
    let ratios = times.map { $0.large.processor / $0.small.processor }
    let name = routers == 1_000_000 ? "a million" : "\(routers)"
    return [
      Figure(
        "\(name) credentials: look-up", times.map(\.large.elapsed).median, unit: .microseconds,
        goal: nil,
        samples: times.map(\.large.elapsed),
        note: "of \(Self.few): \(times.map(\.small.elapsed).median.formatted(1)) µs"),
      Figure(
        "  the same in those of \(Self.few)", ratios.median, unit: .ratio,
        goal: .atMost(Self.findGoal), samples: ratios,
        note: "in processor time, after the pages were read once"),
      Figure(
        "  file", large.fileSize / 1e6, unit: .megabytes,
        goal: .atMost(Self.fileGoal * Double(routers) / 1e6), samples: [],
        note: "\(Int(large.fileSize) / routers) bytes a credential"),
      Figure(
        "  add, 500 in a transaction", adding.elapsed, unit: .microseconds, goal: nil, samples: [],
        note:
          "\(adding.processor.formatted(1)) µs of processor, with what moves the log into the file"),
    ]
  }

  private static func find(in store: CredentialStore) throws -> Stopwatch {
    let numbers = (0..<turn).map { _ in Int.random(in: 0..<store.routers) }
    var found = 0
    let time = try Stopwatch(of: turn) { found = try store.find(numbers) }
    guard found == turn else {
      throw BareDatabase.Unavailable(description: "found \(found) of \(turn) credentials")
    }
    return time
  }
}
