// SPDX-License-Identifier: Apache-2.0

/// Passwords in the keychain, in plain SQLite and in SQLCipher, which take turns.
struct KeychainMeasurement {
  static let addGoal = 20.0
  static let findGoal = 10.0
  private static let items = 10_000
  /// Look-ups of one turn: shorter than what the system gives a thread at once, so that most turns are
  /// not interrupted.
  private static let turn = 50
  private static let turns = (warm: 20, counted: 200)
  private static let secret = [UInt8](repeating: 0x5A, count: 200)

  let workspace: Workspace
  let size: Size
  let sqlcipher: String

  /// Turn by turn.
  private struct Samples {
    var add: [Stopwatch] = []
    var find: [Stopwatch] = []
  }

  func run() throws -> [Figure] {
    var samples: [String: Samples] = [:]
    var names: [String] = []
    for round in 0..<(size.rounds * 3) {
      let stores = try open()
      defer { for store in stores { store.close() } }
      names = stores.map(\.name)
      // Who begins changes with every round.
      let shift = round % stores.count
      try measure(Array(stores[shift...] + stores[..<shift]), &samples)
    }
    let others = names.filter { $0 != "keychain" }
    return figures("batched add", .atMost(Self.addGoal), samples.mapValues(\.add), others)
      + figures(
        "look-up with its secret", .atMost(Self.findGoal), samples.mapValues(\.find), others)
  }

  private func open() throws -> [any PasswordStore] {
    let directory = try workspace.freshDirectory("keychain")
    var stores: [any PasswordStore] = [
      try KeychainStore(in: directory), try BareDatabase.plain(at: directory + "/plain.sqlite3"),
    ]
    do {
      stores.append(
        try BareDatabase.encrypted(at: directory + "/cipher.sqlite3", library: sqlcipher))
    } catch let error as BareDatabase.Unavailable {
      Progress.say("keychain: without SQLCipher (Debian's libsqlcipher0): \(error)")
    }
    return stores
  }

  private func measure(_ stores: [any PasswordStore], _ samples: inout [String: Samples]) throws {
    var line: [String] = []
    for store in stores {
      let time = try Stopwatch(of: Self.items) {
        try store.add(0..<Self.items, secret: Self.secret)
      }
      samples[store.name, default: Samples()].add.append(time)
      line.append("\(store.name) \(time.elapsed.formatted(1)) µs")
    }
    Progress.say("keychain: add: \(line.joined(separator: ", "))")
    for turn in 0..<(Self.turns.warm + Self.turns.counted) {
      let numbers = (0..<Self.turn).map { _ in Int.random(in: 0..<Self.items) }
      for store in stores {
        var found = 0
        let time = try Stopwatch(of: Self.turn) { found = try store.find(numbers) }
        guard found == numbers.count else {
          throw BareDatabase.Unavailable(description: "\(store.name) found \(found)")
        }
        if turn >= Self.turns.warm { samples[store.name]?.find.append(time) }
      }
    }
  }

  private func figures(
    _ what: String, _ goal: Figure.Goal, _ samples: [String: [Stopwatch]], _ others: [String]
  ) -> [Figure] {
    let own = samples["keychain"] ?? []
    let first = Figure(
      "keychain: \(what)", own.map(\.elapsed).median, unit: .microseconds, goal: goal,
      samples: own.map(\.elapsed),
      note: "\(own.map(\.processor).median.formatted(1)) µs of processor; \(Self.items) items, "
        + "secrets of \(Self.secret.count) bytes")
    return [first]
      + others.map { other in
        let theirs = samples[other] ?? []
        let ratios = zip(own, theirs).map { $0.processor / $1.processor }
        return Figure(
          "  against \(other)", ratios.median, unit: .ratio, goal: nil, samples: ratios,
          note: "in processor time; \(other) \(theirs.map(\.elapsed).median.formatted(1)) µs, "
            + "\(theirs.map(\.processor).median.formatted(1)) of processor")
      }
  }
}
