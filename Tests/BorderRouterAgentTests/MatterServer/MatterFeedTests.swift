import TestKit
import Testing
import ThreadDataset

@testable import BorderRouterAgent

/// The rows of the machine's table.
@Suite("A Matter server is kept in step with the home") struct MatterFeedTests {
  private let home: MatterFeed.Home
  private let network: ExtendedPANID
  private let dataset: OperationalDataset
  private let other: ExtendedPANID
  private var feed = MatterFeed()
  private var now = Duration.zero

  init() throws {
    dataset = try SampleNetwork.home.dataset(at: 5)
    network = try #require(dataset.extendedPANID)
    home = .init(network: network, timestamp: 5)
    other = try #require(ExtendedPANID(hex: SampleNetwork.guest.extendedPANID))
  }

  private typealias Effects = [MatterFeed.Effect]

  @discardableResult private mutating func handle(_ event: MatterFeed.Event, after seconds: Int = 60) -> Effects {
    now += .seconds(seconds)
    return feed.handle(event, at: now)
  }

  private var action: MatterFeed.Action? { feed.action(at: now) }

  @discardableResult private mutating func looked(
    schema: UInt64 = 11, _ hasCredentials: Bool = false, of network: ExtendedPANID? = nil, after seconds: Int = 60
  ) -> [MatterFeed.Effect] {
    handle(.looked(MatterServer(schema: schema, hasCredentials: hasCredentials, network: network)), after: seconds)
  }

  private mutating func asks(after seconds: Int) -> Bool { looked(after: seconds).contains(.ask) }

  /// A person has agreed, and the server has taken it.
  private mutating func give(schema: UInt64 = 11) {
    looked(schema: schema)
    handle(.listed(home))
    handle(.credentials(dataset))
    #expect(action == .give(dataset))
    handle(.done(.give(dataset)))
    #expect(action == nil && feed.standing == .works)
  }

  private func differs(_ words: String) -> Bool {
    if case .serverDiffers(let text) = feed.standing { text.contains(words) } else { false }
  }

  /// The agent cannot do its work.
  private func fails(_ words: String) -> Bool {
    if case .fails(let text) = feed.standing { text.contains(words) } else { false }
  }

  @Test("Before both sides are known nothing is asked or said; without a preferred network there is nothing to do")
  mutating func unknown() {
    #expect(handle(.listed(home)).isEmpty && feed.standing == nil)
    feed = MatterFeed()
    #expect(looked().isEmpty && feed.standing == nil && action == nil)
    #expect(handle(.listed(nil)).isEmpty && feed.standing == .works && action == nil)
  }

  @Test("A person is asked once, given what it says while it waits, and the credentials are given") mutating func once()
  {
    looked()
    #expect(handle(.listed(home)).contains(.ask))
    #expect(differs("it lacks the home's network \(network): a person has to agree"))
    #expect(!handle(.listed(home)).contains(.ask))
    #expect(handle(.credentials(dataset)).isEmpty && action == .give(dataset))
    #expect(feed.standing == nil)
    handle(.done(.give(dataset)))
    #expect(feed.standing == .works && action == nil)
    #expect(!looked(true).contains(.ask) && !handle(.listed(home)).contains(.ask))
  }

  @Test("A server with credentials of an earlier run is given them too: whether they are the home's is not known")
  mutating func earlier() {
    for (schema, named) in [(12, network), (11, nil)] as [(UInt64, ExtendedPANID?)] {
      feed = MatterFeed()
      looked(schema: schema, true, of: named)
      #expect(handle(.listed(home)).contains(.ask))
      #expect(differs("it does not say whether it has the current dataset of the home's network \(network)"))
    }
    feed = MatterFeed()
    looked(schema: 12, true, of: other)
    handle(.listed(home))
    #expect(differs("it lacks the home's network"))
  }

  @Test("One that has forgotten them, or has another network, gets them again without a question") mutating func again()
  {
    give()
    #expect(!looked(false).contains(.ask) && action == .give(dataset))
    handle(.done(.give(dataset)))
    #expect(feed.standing == .works)
    feed = MatterFeed()
    give(schema: 12)
    #expect(!looked(schema: 12, true, of: network).contains(.ask) && action == nil)
    #expect(!looked(schema: 12, true, of: other).contains(.ask) && action == .give(dataset))
    handle(.done(.give(dataset)))
    #expect(feed.standing == .works)
  }

  @Test("What changes in the home is asked for again") mutating func changes() throws {
    give()
    var newer = home
    newer.timestamp = 6
    #expect(handle(.listed(newer)).contains(.ask) && differs("it has an older dataset of the home's network"))
    let dataset = try SampleNetwork.home.dataset(at: 7)
    handle(.credentials(dataset))
    #expect(action == .give(dataset), "it may be newer than the list was")
    handle(.done(.give(dataset)))
    newer.timestamp = 7
    #expect(handle(.listed(newer)).isEmpty && feed.standing == .works)
    // Of another network than was asked for: not what the list says.
    newer.network = other
    #expect(handle(.listed(newer)).contains(.ask) && differs("it lacks"))
    #expect(handle(.credentials(dataset)).isEmpty && action == nil)
    #expect(!asks(after: 599) && asks(after: 1))
  }

  @Test("Credentials that nobody has asked for are not taken") mutating func unasked() {
    looked()
    handle(.credentials(dataset))
    #expect(action == nil)
    handle(.listed(nil))
    handle(.credentials(dataset))
    #expect(action == nil)
  }

  @Test(
    "After a no, and after a day without an answer, a person is asked a day later; after other answers in ten minutes",
    arguments: [("consent_denied", 86_400), ("consent_expired", 86_400), ("rate_limited", 600)]) mutating func refused(
      code: String, pause: Int
    )
  {
    looked()
    handle(.listed(home))
    let effects = handle(.refused(code: code, message: "no"))
    #expect(effects.count == 1 && differs("(\(code)): no"))
    #expect(differs("a person is asked again in a day") == (pause == 86_400))
    #expect(!asks(after: pause - 1) && differs(code) && asks(after: 1))
    #expect(differs("a person has to agree"))
  }

  @Test("Something else that the home prefers is asked for at once, also after a no") mutating func somethingElse() {
    looked()
    handle(.listed(home))
    handle(.refused(code: "consent_denied", message: "no"))
    #expect(handle(.listed(.init(network: other, timestamp: 1))).contains(.ask))
  }

  @Test("A request may be lost: it is sent again after ten minutes and on another connection, for a day")
  mutating func lost() {
    #expect(handle(.connected).isEmpty)
    looked()
    handle(.listed(home))
    #expect(!asks(after: 599) && asks(after: 1))
    #expect(handle(.connected) == [.ask])
    #expect(!asks(after: 599))
    #expect(!asks(after: 86_400) && differs("nobody has answered"))
    #expect(asks(after: 600))
  }

  @Test("What the server refuses is said, and tried again after ten minutes") mutating func notTaken() {
    looked()
    handle(.listed(home))
    handle(.credentials(dataset))
    #expect(handle(.notTaken("error 8")).count == 1)
    #expect(differs("it does not take the home's credentials (error 8)") && action == nil)
    looked(after: 599)
    #expect(action == nil)
    looked(after: 1)
    #expect(action == .give(dataset))
    #expect(handle(.notTaken("error 8")).isEmpty, "logged once")
    looked(after: 600)
    handle(.done(.give(dataset)))
    #expect(feed.standing == .works)
  }

  @Test("A server that is away is one that the agent cannot work for, from the fifth look on, another trouble at once")
  mutating func trouble() {
    give()
    for count in 1...5 {
      #expect(handle(.troubled(.closed)).count == (count == 1 ? 1 : 0))
      #expect(count < 5 ? feed.standing == nil : fails("it has closed the connection"))
    }
    #expect(feed.pause == .seconds(60))
    #expect(looked(true).contains { if case .log = $0 { true } else { false } })
    #expect(feed.standing == .works && feed.pause == nil)
    handle(.troubled(.newerSchema(14)))
    #expect(fails("schema 14"))
  }

  @Test("What the home prefers no more is taken back from schema 12 on, where it is what was given")
  mutating func takesBack() {
    give(schema: 12)
    looked(schema: 12, true, of: network)
    handle(.listed(nil))
    #expect(action == .takeBack && feed.standing == .works)
    handle(.done(.takeBack))
    #expect(action == nil)
    #expect(handle(.listed(home)).contains(.ask), "what a person has agreed to is forgotten, too")
    feed = MatterFeed()
    give(schema: 12)
    looked(schema: 12, true, of: other)
    handle(.listed(nil))
    #expect(action == nil)
    feed = MatterFeed()
    give()
    looked(true)
    handle(.listed(nil))
    #expect(action == nil)
  }

  @Test("The words for a Matter server name neither Home Assistant nor its options") func words() {
    let troubles: [HomeAssistantTrouble] = [
      .unreachable("no"), .untrusted("another"), .timeout, .certificate("no"), .noTLS("no"), .status(0), .status(404),
      .tooLarge, .notJSON, .otherForm, .newerSchema(14), .noFrame, .cut, .closed, .refused("error 9"),
    ]
    for trouble in troubles {
      let words = trouble.ofMatterServer
      #expect(!words.contains("Home Assistant") && !words.contains("home-assistant"), "\(words)")
      #expect(!words.contains("is it http"), "\(words)")
    }
  }
}
