import Bridge
import Broker
import Home
import ThreadDataset

/// What it takes to read and to write a dataset and an event, without anything around it.
struct CodecMeasurement {
  private static let turn = 2_000
  private static let turns = (warm: 5, counted: 50)

  func run() throws -> Part {
    Progress.say("codec: datasets and events")
    var table = Table("", .right("bytes"), .right("median, ns"), .right("best turn, ns"), .right("a second"))
    var figures: [Figure] = []
    for codec in try codecs() {
      var times: [Double] = []
      for turn in 0..<(Self.turns.warm + Self.turns.counted) {
        var length = 0
        let time = try Stopwatch(of: Self.turn) { for _ in 0..<Self.turn { length &+= try codec.run() } }
        guard length > 0 else { throw StoreFailure(description: "\(codec.name) did nothing") }
        if turn >= Self.turns.warm { times.append(time.processor * 1e3) }
      }
      table.add(
        codec.name, "\(codec.bytes)", times.median.grouped, (times.min() ?? 0).grouped,
        (1e9 / max(times.median, 1)).grouped)
      figures.append(Figure(codec.name, times.median, unit: .nanoseconds, samples: times))
    }
    return Part(
      "codec", "Decode and encode",
      method: """
        In one thread, processor time of one of \(Self.turn.grouped) in a row, in \(Self.turns.counted) turns. The
        dataset is a complete one; the announcement has it with name, vendor and model.
        """, table: table, figures: figures)
  }

  private struct Codec {
    let name: String
    let bytes: Int
    /// Returns something that depends on all that was done, so that nothing is left out.
    let run: () throws -> Int
  }

  private func codecs() throws -> [Codec] {
    let hex = Fleet.dataset
    let dataset = try OperationalDataset(hex: hex)
    let fleet = Fleet()
    let (announce, heartbeat) = (Array(fleet.announcement(7).utf8), Array(fleet.heartbeat(7).utf8))
    let state = Self.state(dataset)
    return [
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
    ]
  }

  private static func state(_ dataset: OperationalDataset) -> RouterState {
    let start = WireTime(milliseconds: 0)
    var router = Router(BorderAgentID(high: 7, low: 1), at: start)
    router.user = ExactName(Fleet.user)
    router.isOnline = true
    router.credential = .stored
    router.name = "Router 7"
    router.vendor = "Example"
    router.model = "BR-1"
    router.dataset = DatasetSummary(dataset) { _, _ in Hash128() }
    router.datasetChangedAt = start
    return RouterState(router, .match, in: "home")
  }
}
