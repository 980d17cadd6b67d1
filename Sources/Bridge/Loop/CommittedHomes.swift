import Home
import HomeStore
import KeychainCore
import Synchronization

/// The homes as they are on disk: what any thread may look at while the loop handles a batch, and all that may be asked
/// of the loop by who follows a commit.
package final class CommittedHomes: Sendable {
  /// The ids of the records of each home that is served.
  let books: Mutex<[[RecordKey: RecordID]]>
  /// Nobody keeps the list: a commit would copy all of it.
  let list: Mutex<[Home]>
  let former: Mutex<[LoadedStore.Loaded]>
  let unreadableRecords: Mutex<[String: Int]>
  let recentEvents: Mutex<RecentEvents>
  /// That the store cannot be used. No home can hold that, so the first one is shown with it.
  private let storeAlert = Mutex<Alert?>(nil)
  private let store: any RecordStore
  let places: [String: Int]

  init(_ homes: [ServedHome], _ loaded: LoadedStore, _ recent: RecentEvents, _ store: any RecordStore) {
    self.store = store
    places = Dictionary(homes.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { $1 })
    recentEvents = Mutex(recent)
    books = Mutex(loaded.served.map(\.book))
    list = Mutex(loaded.served.map(\.home))
    former = Mutex(loaded.former)
    unreadableRecords = Mutex(loaded.unreadable)
  }

  /// All served homes, and with what is shown of the store.
  package var snapshot: HomeSnapshot {
    let alert = storeAlert.withLock { $0 }
    return list.withLock { homes in HomeSnapshot(homes: places.mapValues { homes[$0].showing($0 == 0 ? alert : nil) }) }
  }

  /// The counts of all served homes together. No home is copied: a shard has thousands.
  package var counts: HomeCounts {
    let alert = storeAlert.withLock { $0 }
    return list.withLock { homes in
      homes.enumerated().reduce(into: HomeCounts()) { $0.add($1.offset == 0 ? $1.element.showing(alert) : $1.element) }
    }
  }

  /// One of them.
  package func home(_ name: String) -> Home? {
    let alert = places[name] == 0 ? storeAlert.withLock { $0 } : nil
    return storedHome(name)?.showing(alert)
  }

  /// The same as it is on disk alone.
  func storedHome(_ name: String) -> Home? { places[name].map { place in list.withLock { $0[place] } } }

  /// What happened last, also in earlier processes.
  package var recent: RecentEvents { recentEvents.withLock { $0 } }

  /// What lists show of the store: nil where it has been writable for a day.
  func show(_ alert: Alert?) { storeAlert.withLock { $0 = alert } }

  /// Homes that the settings name no more, as they were when they did, and those whose name is lost.
  package var formerHomes: HomeSnapshot {
    let former = former.withLock { $0 }
    return HomeSnapshot(homes: Dictionary(former.map { ($0.name, $0.home) }, uniquingKeysWith: { $1 }))
  }

  /// By home, also the former ones: how many records cannot be read.
  package var unreadable: [String: Int] { unreadableRecords.withLock { $0 } }

  /// Lends a dataset.
  ///
  /// - Returns: nil where the record has none.
  package func withDataset<R>(of key: RecordKey, in home: String, _ body: (UnsafeRawBufferPointer) throws -> R) throws
    -> R?
  {
    let id = places[home].flatMap { place in books.withLock { $0[place][key] } }
    return try id.flatMap { try store.withSecret(of: $0, body) }
  }
}

extension Home {
  /// - Parameter alert: that the store cannot be used.
  fileprivate func showing(_ alert: Alert?) -> Home {
    guard let alert else { return self }
    var home = self
    home.show(alert, as: AlertKey(.storeReadOnly))
    return home
  }
}
