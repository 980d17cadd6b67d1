import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

@Suite("What the alerts of one router say to do") struct RouterRemedyTests {
  /// Whether the router is there.
  private static let presences: [OfflineReason?] = [nil, .stopped, .unreachable, .frozen, .untrusted, .silent]
  private static let preferred = DatasetSummary.of(1, at: 5)
  /// What is stored for it: the preferred dataset, an older one, one of the same age, other keys, another network.
  private static let datasets: [DatasetSummary] = [
    preferred, .of(1, at: 4, channel: 20), .of(1, at: 5, channel: 20), .of(1, key: 2, at: 6), .of(2),
  ]

  /// All that can be true of a router at one time.
  private static func routers(_ offline: OfflineReason?) -> [Router] {
    let isOnline = offline == nil
    var routers: [Router] = []
    for dataset in datasets {
      for state in isOnline ? [.detached, .leader] : [nil, .disabled] as [ThreadState?] {
        // A router that is not there is on no network.
        for current in isOnline ? [nil, 1, 3] : [nil] as [UInt64?] {
          for credential in [CredentialState.stored, .stale, .conflict] {
            for adoption in [nil] + AdoptionState.allCases.map({ $0 }) as [AdoptionState?] {
              var router = Router(.number(7), at: WireTime(milliseconds: 0))
              (router.isPresent, router.isOnline) = (true, isOnline)
              (router.user, router.ownName, router.offlineReason) = ("otbr", "Bob", offline)
              (router.dataset, router.credential) = (dataset, credential)
              router.threadState = state
              router.currentNetwork = current.map { ExtendedPANID(number: $0) }
              router.adoption = adoption.map { Adoption($0) }
              routers.append(router)
            }
          }
        }
      }
    }
    return routers
  }

  private static func remedies(_ router: Router) -> [AlertName: String] {
    let alerts = RouterAlerts(
      router: StoredRouter(router), check: PreferredCheck(router, preferred: preferred), preferred: preferred,
      trigger: .announce, lastSeen: WireTime(milliseconds: 0), currentName: nil, isExplainedByHome: false,
      isAwayTogether: false, isAccepted: false, hasOthers: false)
    var remedies: [AlertName: String] = [:]
    for (name, facts) in alerts.holding() { remedies[name] = AlertText(facts, homeOption: "").remedy }
    return remedies
  }

  /// Why two remedies cannot both be followed; nil where they can.
  private static func contradiction(_ one: String, _ other: String) -> String? {
    func says(_ words: [String], _ text: String) -> Bool { words.contains { " \(text.lowercased())".contains($0) } }
    if says(["nothing is to be done", "wait "], one) { return "one says to wait" }
    if says([" start thread on"], one), says(["disable thread on"], other) {
      return "one says to start Thread, the other to disable it"
    }
    let never = ["do not set a dataset while thread runs"]
    if says(never, one), !says(never, other),
      says(["set the right dataset", "the current dataset", "the credentials of \"net-1\" in"], other)
    {
      return "one says how a dataset is not set, the other to set it"
    }
    return nil
  }

  @Test("No two of them contradict each other, whatever is true of it", arguments: presences) func consistent(
    _ offline: OfflineReason?
  ) {
    for router in Self.routers(offline) {
      let remedies = Self.remedies(router)
      for (name, remedy) in remedies {
        for (other, another) in remedies where other != name {
          let why = Self.contradiction(remedy, another)
          #expect(why == nil, "\(name): \(remedy) | \(other): \(another)")
        }
      }
      if remedies[.adoptionFailed] != nil, let mismatch = remedies[.preferredNetworkMismatch] {
        #expect(mismatch.hasPrefix("Do what the alert `AdoptionFailed` says about \"Bob\"."))
      }
    }
  }
}
