import Bridge
import Broker
import Home
import Testing

@Suite("Which sealed requests have come") struct SealedRequestsTests {
  private var requests = SealedRequests()
  private let one: PublicIdentity
  private let other: PublicIdentity
  private let now: Int64 = 1_800_000_000

  init() throws {
    one = try Identity().keys
    other = try Identity().keys
  }

  /// - Parameter time: seconds from now; the envelope lives until 90 later, or until `ends`.
  private mutating func take(
    _ identifier: String, of issuer: PublicIdentity? = nil, at time: Int64 = 0, ends: Int64? = nil
  ) -> SealedRequests.Verdict {
    requests.take(identifier, of: issuer ?? one, ends: now + (ends ?? time + 90), now: now + time)
  }

  /// As after a restart.
  private mutating func restart() {
    var restarted = SealedRequests()
    for key in [one, other].map({ Hash128(hashing: $0.signingKey) }) {
      #expect(restarted.load(requests.record(key)) == key)
    }
    requests = restarted
  }

  @Test("A request counts once for its signer, whatever its letters look like") mutating func once() {
    #expect(take("a") == .news)
    #expect(take("a", at: 89, ends: 90) == .replayed)
    #expect(take("a", of: other) == .news)
    #expect(take("caf\u{E9}") == .news)
    #expect(take("cafe\u{301}") == .news)
    #expect(take("a\u{0}") == .news)
  }

  @Test("After a restart it has still come; after a rollback it has not") mutating func restarts() {
    #expect(take("a") == .news)
    #expect(requests.takeChanges() == [Hash128(hashing: one.signingKey)])
    let copy = requests
    #expect(take("b") == .news)
    requests = copy
    restart()
    #expect(take("a") == .replayed)
    #expect(take("b") == .news)
  }

  @Test("What does not open any more is forgotten, and nothing before") mutating func forgets() {
    for number in 0..<10 { #expect(take("\(number)", at: Int64(number)) == .news) }
    #expect(take("0", at: 90, ends: 90) == .forgotten)
    restart()
    #expect(take("0", at: 90, ends: 90) == .forgotten)
    #expect(take("1", at: 90, ends: 91) == .replayed)
    #expect(take("0", of: other, at: 90, ends: 90) == .news)
  }

  @Test("A clock that is set back brings nothing back that was forgotten") mutating func clockSetBack() {
    #expect(take("a") == .news)
    #expect(take("b", at: 200) == .news)
    #expect(take("a", at: 0) == .forgotten)
    #expect(take("c", at: 1) == .news)
  }

  @Test("A signer has so many alive and no more, and others are not hindered") mutating func full() {
    for number in 0..<1_024 { #expect(take("\(number)") == .news) }
    #expect(take("x") == .full)
    #expect(take("x", of: other) == .news)
    #expect(take("x", at: 90) == .news)
  }

  @Test("Only what is news is written") mutating func changes() {
    #expect(take("a") == .news)
    #expect(!requests.takeChanges().isEmpty)
    #expect(take("a") == .replayed)
    #expect(requests.takeChanges().isEmpty)
  }

  @Test("Another record is none of these", arguments: [[], [64, 1], [1, 1] + [UInt8](repeating: 0, count: 24)])
  mutating func otherRecords(_ bytes: [UInt8]) {
    #expect(requests.load(bytes) == nil)
    #expect(requests == SealedRequests())
  }
}

@Suite("How often users may ask") struct RequestLimiterTests {
  private let limiter = RequestLimiter()
  private let now = WireTime(milliseconds: 1_700_000_000_000)

  private func ask(_ user: ExactName = "phone", _ command: String = "ping", items: Int = 0, after: Int = 0)
    -> RequestLimiter.Verdict
  { limiter.judge(user, command, items: { items }, at: now.adding(seconds: after)) }

  @Test("Fifty at once, ten a second, and ten refusals a second are answered") func burst() {
    for _ in 0..<50 { #expect(ask() == .allowed) }
    for _ in 0..<10 { #expect(ask() == .refused) }
    #expect(ask() == .ignored)
    #expect(ask("caf\u{E9}") == .allowed)
    #expect(ask("cafe\u{301}") == .allowed)
    for _ in 0..<10 { #expect(ask(after: 1) == .allowed) }
    #expect(ask(after: 1) == .refused)
  }

  @Test(
    "A list counts as five, and items that are looked at cost more",
    arguments: [
      ("ping", 1, 0), ("anything", 1, 0), ("credentials/get", 1, 0), ("credentials/list", 5, 20),
      ("network/get", 1, 20), ("preferred/get", 1, 20), ("networks/nearby", 5, 20), ("routers/list", 5, 5),
      ("consent/pending", 5, 5), ("preferred/set", 1, 20), ("credentials/store", 1, 20),
    ]) func prices(_ command: String, _ price: Int, _ work: Int)
  {
    #expect(RequestLimiter.price(of: command) == price)
    #expect(RequestLimiter.work(of: command) { 2_000 } == work)
  }

  @Test("The next request waits for what one owes") func debt() {
    #expect(ask("phone", "credentials/list", items: 10_000) == .allowed)
    #expect(ask(after: 5) == .refused)
    #expect(ask(after: 6) == .allowed)
  }
}
