import BorderAgentDouble
import Bridge
import Broker
import Home
import MeshCoP
import SodiumCrypto
import ThreadDataset

/// What it takes to read and to write a dataset and an event, without anything around it, and to read a border router.
struct CodecMeasurement {
  private static let turns = (warm: 5, counted: 50)

  func run() throws -> Part {
    Progress.say("codec: datasets and events")
    var table = Table("", .right("bytes"), .right("median, ns"), .right("best turn, ns"), .right("a second"))
    var figures: [Figure] = []
    for codec in try codecs() {
      var times: [Double] = []
      for turn in 0..<(Self.turns.warm + Self.turns.counted) {
        var length = 0
        let time = try Stopwatch(of: codec.turn) { for _ in 0..<codec.turn { length &+= try codec.run() } }
        guard length != 0 else { throw StoreFailure(description: "\(codec.name) did nothing") }
        if turn >= Self.turns.warm { times.append(time.processor * 1e3) }
      }
      table.add(
        codec.name, "\(codec.bytes)", times.median.grouped, (times.min() ?? 0).grouped,
        (1e9 / max(times.median, 1)).grouped)
      figures.append(Figure(codec.name, times.median, unit: .nanoseconds, goal: codec.goal, samples: times))
    }
    return Part(
      "codec", "Decode and encode",
      method: """
        In one thread, processor time of one of \(2_000.grouped) in a row, of 20 border routers, in
        \(Self.turns.counted) turns. The dataset is a complete one; the announcement has it with name, vendor and model.
        """, table: table, figures: figures)
  }

  private struct Codec {
    let name: String
    let bytes: Int
    /// How often in a row.
    var turn = 2_000
    var goal: Figure.Goal?
    /// Returns something that depends on all that was done, so that nothing is left out.
    let run: () throws -> Int
  }

  private func codecs() throws -> [Codec] {
    let hex = Fleet.dataset
    let dataset = try OperationalDataset(hex: hex)
    let fleet = Fleet()
    let (announce, heartbeat) = (Array(fleet.announcement(7).utf8), Array(fleet.heartbeat(7).utf8))
    let state = Self.state(dataset)
    return try [
      Codec(name: "dataset from TLVs", bytes: dataset.bytes.count) {
        try OperationalDataset(bytes: dataset.bytes).bytes.count
      },
      Codec(name: "dataset from hexadecimal digits", bytes: hex.utf8.count) {
        try OperationalDataset(hex: hex).bytes.count
      }, Codec(name: "dataset to hexadecimal digits", bytes: hex.utf8.count) { dataset.hex.utf8.count },
      Codec(name: "dataset with two of its TLVs replaced", bytes: dataset.bytes.count) {
        try dataset.replacing(.panID(0x5EED), .networkName("bench")).bytes.count
      },
      Codec(name: "announcement from JSON, dataset included", bytes: announce.count) {
        try InboundEvent(reading: announce, as: .announce).dataset?.bytes.count ?? 0
      },
      Codec(name: "heartbeat from JSON", bytes: heartbeat.count) {
        try InboundEvent(reading: heartbeat, as: .heartbeat).message.subject.hashValue | 1
      }, Codec(name: "state of a router to JSON", bytes: state.json().count) { state.json().count },
      conversation(dataset),
    ]
  }

  /// The client's part of a conversation with a border router, whose answers were recorded before.
  private func conversation(_ dataset: OperationalDataset) throws -> Codec {
    let (pskc, now) = (SecretBytes(copying: (1...16).map(UInt8.init)), ContinuousClock.now)
    var router = try BorderAgentDouble(secret: pskc, active: dataset.bytes, random: KnownRandom(seed: 2).fill)
    var client = try Conversation(secret: pskc, random: KnownRandom(seed: 1).fill, at: now)
    var (events, answers) = (client.start(at: now), [[UInt8]]())
    var hasSucceeded = false
    while !events.isEmpty {
      let sent = events.compactMap { if case .send(let datagram) = $0 { datagram } else { nil } }
      if case .ended(.success)? = events.last { hasSucceeded = true }
      let received = sent.flatMap { router.receive($0) }
      answers += received
      events = received.flatMap { client.receive($0, at: now) }
    }
    guard hasSucceeded else { throw StoreFailure(description: "the border router was not read") }
    // 10 ms.
    let name = "border router read by its PSKc, by the client"
    return Codec(name: name, bytes: answers.reduce(0) { $0 + $1.count }, turn: 20, goal: .atMost(10_000_000)) {
      var client = try Conversation(secret: pskc, random: KnownRandom(seed: 1).fill, at: now)
      return answers.reduce(client.start(at: now).count) { $0 + client.receive($1, at: now).count }
    }
  }

  private static func state(_ dataset: OperationalDataset) -> RouterState {
    let start = WireTime(milliseconds: 0)
    var router = Router(BorderAgentID(high: 7, low: 1), at: start)
    router.user = ExactName(Fleet.user)
    router.isOnline = true
    router.credential = .stored
    router.ownName = "Router 7"
    router.vendor = "Example"
    router.model = "BR-1"
    router.dataset = DatasetSummary(dataset) { _, _ in Hash128() }
    router.datasetChangedAt = start
    return RouterState(router, .match, in: "home")
  }
}
