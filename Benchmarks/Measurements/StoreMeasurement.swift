/// Passwords in the keychain, in plain SQLite, in SQLCipher and in a JSON file, which take turns, in stores of several
/// sizes.
struct StoreMeasurement {
  /// Of the processor time that SQLCipher needs.
  static let addGoal = 2.0
  static let findGoal = 2.0
  /// The size that the goals are about.
  private static let typical = 10_000
  /// Look-ups of one turn: shorter than what the system gives a thread at once, so that most turns are
  /// not interrupted.
  private static let turn = 50
  private static let turns = (warm: 20, counted: 200)
  private static let secret = [UInt8](repeating: 0x5A, count: 200)
  private static let otherSecret = [UInt8](repeating: 0xA5, count: 200)

  let workspace: Workspace
  let peers: Peers
  let size: Size

  private struct Samples {
    var add: [Stopwatch] = []
    var find: [Stopwatch] = []
    var change: [Stopwatch] = []
    var open: [Stopwatch] = []
    var bytes = 0.0
  }

  private struct Results {
    /// By size and name.
    var samples: [Int: [String: Samples]] = [:]
    var names: [String] = []
    var missing: [String] = []
  }

  func run() throws -> Part {
    var results = Results()
    for items in size.items {
      // The large ones take long, and vary little.
      let rounds = items <= Self.typical ? size.rounds * 3 : 1
      for round in 0..<rounds {
        Progress.say("store: \(items) items, round \(round + 1) of \(rounds)")
        let directory = try workspace.freshDirectory("stores")
        defer { workspace.remove(directory) }
        let stores = try open(in: directory, &results)
        defer { for store in stores { store.close() } }
        results.names = stores.map(\.name)
        // Who begins changes with every round.
        let shift = round % stores.count
        try measure(Array(stores[shift...] + stores[..<shift]), items, &results.samples[items, default: [:]])
      }
    }
    return part(results)
  }

  private func open(in directory: String, _ results: inout Results) throws -> [any PasswordStore] {
    func place(_ name: String) throws -> String { try workspace.freshDirectory(name, in: directory) }
    results.missing = []
    var stores: [any PasswordStore] = [
      try KeychainStore(in: place("keychain")), try BareDatabase.plain(in: place("plain")),
    ]
    do { stores.append(try BareDatabase.encrypted(in: place("cipher"), library: peers.sqlcipher)) } catch let error
      as BareDatabase.Unavailable
    {
      Progress.say("store: without SQLCipher (Debian's libsqlcipher0): \(error)")
      results.missing.append("SQLCipher is left out: there is no libsqlcipher0 on this machine.")
    }
    stores.append(try JSONFileStore(in: place("json"), peers: peers, secretBytes: Self.secret.count))
    return stores
  }

  private func measure(_ stores: [any PasswordStore], _ items: Int, _ samples: inout [String: Samples]) throws {
    for store in stores {
      let batch = min(store.batch, items)
      for start in stride(from: 0, to: items, by: batch) {
        let time = try store.add(start..<min(start + batch, items), secret: Self.secret)
        samples[store.name, default: Samples()].add.append(time)
      }
      Progress.say("  \(store.name): added")
    }
    for turn in 0..<(Self.turns.warm + Self.turns.counted) {
      let numbers = (0..<Self.turn).map { _ in Int.random(in: 0..<items) }
      for store in stores {
        let time = try store.find(numbers)
        if turn >= Self.turns.warm { samples[store.name]?.find.append(time) }
      }
    }
    for store in stores {
      for _ in 0..<store.changes(of: items) {
        let time = try store.change(Int.random(in: 0..<items), secret: Self.otherSecret)
        samples[store.name]?.change.append(time)
      }
      for _ in 0..<3 { samples[store.name]?.open.append(try store.reopen()) }
      samples[store.name]?.bytes = try store.fileSize / Double(items)
    }
  }

  private func part(_ results: Results) -> Part {
    var table = Table(
      .right("items"), "store", .right("add, µs"), .right("look-up, µs"), .right("change one, ms"), .right("open, ms"),
      .right("bytes/item"))
    var figures: [Figure] = []
    for items in size.items {
      for name in results.names {
        guard let one = results.samples[items]?[name] else { continue }
        table.add(
          items.grouped, name == "threadkeeper" ? "**\(name)**" : name, one.add.elapsed.formatted(1),
          one.find.elapsed.formatted(1), (one.change.elapsed / 1e3).formatted(2), (one.open.elapsed / 1e3).formatted(1),
          one.bytes.formatted(0))
        if name == "threadkeeper", items == Self.typical {
          figures += goals(one, beside: results.samples[items]?[BareDatabase.cipher])
        }
      }
    }
    var part = Part(
      "store", "Store",
      method: """
        Passwords of \(Self.secret.count) bytes with service, account, group and label, in four stores; look-ups by turns. *Add*:
        for one item, when up to \(Self.typical.grouped) are added in one durable transaction (all at once in the JSON file).
        *Look-up*: a random item by its service, account and group, with its secret. *Change one*: another secret for
        one item, on the disk. *Open*: until a first look-up is answered. SQLite and SQLCipher have the same durability
        and cache and an index. SQLCipher derives no key, and has the pages that it has read in plain text in memory: a
        look-up decrypts nothing there, while threadkeeper opens two seals. SQLite and the JSON file keep the secrets
        in plain text.
        """, table: table, figures: figures)
    part.missing = results.missing
    return part
  }

  /// - Parameter cipher: nil where there is no SQLCipher.
  private func goals(_ samples: Samples, beside cipher: Samples?) -> [Figure] {
    let all = [
      ("a look-up with its secret, in the process", samples.find, cipher?.find, Self.findGoal),
      ("a batched add", samples.add, cipher?.add, Self.addGoal),
    ]
    return all.flatMap { name, own, other, goal in
      let time = Figure("processor time of \(name)", own.processor, unit: .microseconds, samples: own.map(\.processor))
      guard let other else { return [time] }
      return [
        time,
        Figure(
          "\(name): times what SQLCipher needs", own.processor / other.processor, unit: .ratio, goal: .atMost(goal),
          samples: zip(own, other).map { $0.processor / $1.processor }),
      ]
    }
  }
}
