import Foundation
import Synchronization

/// New keys for every item of a store, while another thread looks items up.
struct RotationMeasurement {
  /// Seconds.
  static let goal = 10.0
  private static let batch = 1_000

  let workspace: Workspace
  let items: Int

  func run() throws -> Part {
    Progress.say("rotation: \(items) items")
    let items = items
    let store = try KeychainStore(in: workspace.freshDirectory("rotation"))
    defer { store.close() }
    let secret = [UInt8](repeating: 0x5A, count: 200)
    for start in stride(from: 0, to: items, by: Self.batch) {
      _ = try store.add(start..<min(start + Self.batch, items), secret: secret)
    }
    let before = try (0..<2_000).map { _ in try Self.lookUp(in: store, of: items) }
    let reader = Reader()
    let isDone = Flag()
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      while !isDone.isSet { reader.record { try Self.lookUp(in: store, of: items) } }
      ended.signal()
    }
    let rotation = Result { try Stopwatch(of: 1) { try store.rotate() } }
    isDone.set()
    ended.wait()
    let time = try rotation.get()
    return Part(
      "rotation", "New keys for all items",
      method: "A thread looks up items while every item is sealed again by new keys.",
      figures: figures(time, before: before, during: try reader.times()))
  }

  private func figures(_ time: Stopwatch, before: [Double], during: [Double]) -> [Figure] {
    [
      Figure(
        "rotation of \(items) items", time.elapsed / 1e6, unit: .seconds,
        goal: .atMost(Self.goal * Double(items) / 100_000), samples: [],
        note: "\((time.processor / 1e6).formatted(1)) s of processor, " + "\(during.count) look-ups meanwhile"),
      Figure(
        "  a look-up meanwhile, median", during.median, unit: .microseconds, goal: nil, samples: [],
        note: "before \(before.median.formatted(1)) µs; 99 of 100 within " + "\(during.percentile(99).formatted(1)) µs"),
      Figure("  the slowest", (during.max() ?? 0) / 1e3, unit: .milliseconds, goal: nil, samples: [], note: ""),
    ]
  }

  /// - Returns: microseconds.
  private static func lookUp(in store: KeychainStore, of items: Int) throws -> Double {
    try store.find([Int.random(in: 0..<items)]).elapsed
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
  }

  /// What the thread that looks up found.
  private final class Reader: Sendable {
    private let results = Mutex<(times: [Double], error: (any Error)?)>(([], nil))

    func record(_ body: () throws -> Double) {
      do {
        let time = try body()
        results.withLock { $0.times.append(time) }
      } catch { results.withLock { $0.error = error } }
    }

    func times() throws -> [Double] {
      let (times, error) = results.withLock { ($0.times, $0.error) }
      if let error { throw error }
      return times
    }
  }
}
