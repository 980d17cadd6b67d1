import Home
import ThreadDataset

/// When routers were seen last is saved every hour, and when the daemon ends, where nothing else of them has changed
/// meanwhile: a home whose routers send heartbeats writes all day. After a crash silence counts from the start, for
/// those that have sent heartbeats before, and the first one is saved at once.
struct SignsOfLife {
  static let interval = 3_600
  /// Records of one commit.
  static let most = 2_000

  struct Sign {
    let home: Int
    let router: BorderAgentID
  }

  private var savedAt: WireTime
  private var waiting: [Sign] = []

  init(since now: WireTime) { savedAt = now }

  func isDue(at now: WireTime) -> Bool {
    waiting.isEmpty && (now >= savedAt.adding(seconds: Self.interval) || now < savedAt)
  }

  /// Finds the routers that were seen since the last time.
  mutating func collect(_ homes: inout [LoopState.Served], at now: WireTime) {
    for place in homes.indices where homes[place].hasSigns {
      homes[place].hasSigns = false
      homes[place].home.routers.forEach { router, seen in
        // A time to come: the clock was set back.
        guard seen >= savedAt || now < savedAt else { return }
        waiting.append(Sign(home: place, router: router.agent))
      }
    }
    savedAt = now
  }

  /// What is to be saved now; empty: nothing is left.
  var next: [Sign] { waiting.suffix(Self.most) }

  /// They are on disk.
  mutating func remove(_ saved: [Sign]) { waiting.removeLast(saved.count) }
}
