import Foundation
import TestKit
import Testing
import ThreadDataset
import ThreadRequests
import Wire

@testable import BorderRouterAgent
@testable import Broker

/// A row of the machine's table each.
@Suite("Home Assistant's preferred network is kept that of the home") struct PreferredSyncTests {
  private let home: PreferredSync.Home
  private let network: ExtendedPANID
  private let dataset: OperationalDataset
  /// Prefers another network.
  private let other: StoreSummary

  init() throws {
    dataset = try SampleNetwork.home.dataset(at: 5)
    network = try #require(dataset.extendedPANID)
    home = .init(network: network, timestamp: 5)
    other = StoreSummary(preferred: ExtendedPANID(hex: "3333333344444444"), timestamps: [network: 5])
  }

  private var sync = PreferredSync()
  private var now = Duration.zero

  @discardableResult private mutating func handle(_ event: PreferredSync.Event, after seconds: Int = 60)
    -> [PreferredSync.Effect]
  {
    now += .seconds(seconds)
    return sync.handle(event, at: now)
  }

  /// - Parameter store: another than the one that prefers another network.
  @discardableResult private mutating func compared(_ store: StoreSummary? = nil, after seconds: Int = 60)
    -> [PreferredSync.Effect]
  { handle(.compared(home, store ?? other), after: seconds) }

  private mutating func asks(_ store: StoreSummary? = nil, after seconds: Int = 60) -> Bool {
    compared(store, after: seconds).contains(.ask)
  }

  /// Whether it asks after this time, and not a second before.
  private mutating func asksAgain(after seconds: Int) -> Bool { !asks(after: seconds - 1) && asks(after: 1) }

  /// A store in which the home's network is preferred, or none, with a dataset of this time.
  private func store(preferring preferred: ExtendedPANID?, at seconds: UInt64) -> StoreSummary {
    StoreSummary(preferred: preferred, timestamps: [network: seconds])
  }

  /// From the beginning: a question that was answered so.
  private mutating func answered(_ code: String) {
    sync = PreferredSync()
    #expect(asks())
    #expect(handle(.refused(code: code, message: "no")).contains { $0.note?.level == .warning })
  }

  @Test("Without a difference, or without credentials of the home's, nothing is asked") mutating func none() {
    let newer = store(preferring: network, at: 6)
    #expect(!handle(.compared(nil, other)).contains(.ask) && !asks(newer))
    #expect(!asks(store(preferring: network, at: 5)))
  }

  @Test("Another preferred network, none or no dataset is asked about, once") mutating func differences() {
    for store in [other, store(preferring: nil, at: 5), StoreSummary(preferred: nil)] {
      sync = PreferredSync()
      let effects = compared(store)
      #expect(effects.first == .ask && effects.last?.note?.level == .info)
      #expect(!asks(store) && !asks(store))
    }
  }

  @Test("A difference in the time alone is asked about when the dataset was read again") mutating func checks() {
    let old = store(preferring: network, at: 4)
    #expect(compared(old) == [.reread(network)])
    #expect(asks(old) && !asks(old))
    // It was newer there than the list had shown.
    sync = PreferredSync()
    #expect(compared(old) == [.reread(network)])
    #expect(!asks(store(preferring: network, at: 5)))
    #expect(compared(old) == [.reread(network)])
    // Another one by then.
    let next = PreferredSync.Home(network: network, timestamp: 6)
    #expect(handle(.compared(next, old)) == [.reread(network)])
    #expect(handle(.compared(next, old)).contains(.ask))
  }

  @Test("What is written is not asked about again, while Home Assistant's list does not show it")
  mutating func writtenAndStale() {
    let old = store(preferring: network, at: 4)
    compared(old)
    #expect(asks(old))
    handle(.credentials(dataset))
    handle(.written)
    #expect(compared(old) == [.reread(network)])
    #expect(!asks(store(preferring: network, at: 5)))
  }

  @Test("Where Home Assistant's dataset of the network can't be used, that is said and not asked")
  mutating func unusable() {
    for preferred in [network, nil] {
      sync = PreferredSync()
      let store = StoreSummary(preferred: preferred, unusable: [network])
      #expect(compared(store).map(\.note?.text) == [PreferredSync.keepsAnother])
      #expect(compared(store) == [])
      // Deleted there.
      #expect(asks(StoreSummary(preferred: nil)))
    }
  }

  @Test("After a broken connection to the broker a question is sent again") mutating func connected() {
    #expect(handle(.connected) == [] && asks())
    #expect(handle(.connected, after: 100) == [.ask])
    #expect(compared(after: 179) == [])
    #expect(handle(.credentials(dataset)) == [.write(dataset)])
    #expect(handle(.connected) == [])
    // What has waited too long is left to the next look.
    sync = PreferredSync()
    #expect(asks() && handle(.connected, after: 86_581) == [])
  }

  @Test("What a person has agreed to is written, and then there is nothing to do") mutating func writes() {
    #expect(asks())
    #expect(handle(.credentials(dataset)) == [.write(dataset)] && sync.pending == dataset)
    #expect(!asks())
    #expect(handle(.written).first?.note?.level == .info && sync.pending == nil)
    // Changed back in Home Assistant: another question.
    #expect(asks())
  }

  @Test("Credentials of another network, and those that nobody has asked for, are not written") mutating func wrong()
    throws
  {
    #expect(handle(.credentials(dataset)) == [] && sync.pending == nil)
    #expect(asks())
    #expect(try handle(.credentials(SampleNetwork.guest.dataset(at: 1))) == [])
    #expect(sync.pending == nil && asksAgain(after: 600))
  }

  @Test("After a denial it is not asked until either side has changed, and a day has passed") mutating func denied() {
    let inStep = store(preferring: network, at: 5)
    answered("consent_denied")
    #expect(!asks(after: 864_000))
    let next = PreferredSync.Home(network: network, timestamp: 6)
    #expect(handle(.compared(next, other)).contains(.ask))
    answered("consent_denied")
    let none = store(preferring: nil, at: 5)
    #expect(!asks(none, after: 86_399) && asks(none, after: 1))
    answered("consent_denied")
    // In step for a moment.
    #expect(!asks(inStep, after: 60) && !asks(after: 86_339))
    #expect(asks(after: 1))
    // What nobody knows ends no denial.
    answered("consent_denied")
    let unknown = handle(.compared(nil, other), after: 864_000)
    #expect(!unknown.contains(.ask) && !asks())
  }

  @Test("A denial is remembered by the next run, and forgotten when there is no difference") mutating func remembered()
    throws
  {
    #expect(asks())
    let effects = handle(.refused(code: "consent_denied", message: "no"))
    guard case .remember(let denied?) = effects.first else {
      Issue.record("it is remembered: \(effects)")
      return
    }
    #expect(denied == "\(network) 5 3333333344444444 5")
    sync = PreferredSync(denied: denied)
    #expect(!asks() && compared() == [])
    let inStep = store(preferring: network, at: 5)
    #expect(compared(inStep) == [.remember(nil)])
    #expect(compared(inStep) == [] && asks())
  }

  @Test("When nobody has decided it is asked again after a day", arguments: ["consent_expired", "consent_required"])
  mutating func expired(code: String) {
    answered(code)
    #expect(asksAgain(after: 86_400))
  }

  @Test("Another answer, or none, is logged once, and it is asked again after ten minutes") mutating func otherAnswers()
  {
    answered("not_enrolled")
    #expect(asksAgain(after: 600))
    #expect(handle(.refused(code: "not_enrolled", message: "no")) == [])
  }

  @Test("A request may be lost, so it is sent every ten minutes, for the day that a person has to decide")
  mutating func lost() {
    #expect(asks())
    for _ in 0..<143 { #expect(asksAgain(after: 600)) }
    #expect(handle(.credentials(dataset), after: 779) == [.write(dataset)])
    sync = PreferredSync()
    #expect(asks() && compared(after: 86_580).first?.note?.level == .warning)
    #expect(asksAgain(after: 600))
  }

  @Test("What Home Assistant does not take is logged, and not asked again until either side has changed")
  mutating func notTaken() {
    #expect(asks())
    handle(.credentials(dataset))
    let effects = handle(.notTaken("no"))
    #expect(effects.first?.note?.text == "no" && sync.pending == nil)
    #expect(effects.contains { if case .remember(.some) = $0 { true } else { false } })
    #expect(!asks(after: 864_000))
  }

  @Test("During trouble it is tried for a minute, and then the dataset is not kept") mutating func trouble() {
    #expect(asks())
    handle(.credentials(dataset))
    #expect(handle(.troubled, after: 59) == [] && sync.pending == dataset)
    #expect(handle(.troubled, after: 1).first?.note?.level == .warning)
    #expect(sync.pending == nil && asksAgain(after: 86_400))
    #expect(handle(.troubled) == [])
  }
}

@Suite("Sealed requests of the agent") struct SealedRequesterTests {
  private let own: Identity
  private let daemon: Identity
  private let now: Int64 = 1_800_000_000

  init() throws {
    own = try Identity()
    daemon = try Identity()
  }

  private var requester: SealedRequester {
    SealedRequester(base: "threadkeeper", user: "ha", keys: AgentKeys(own: own, daemon: daemon.keys))
  }

  private func answer(_ request: Publication, _ json: String) -> IncomingMessage {
    IncomingMessage(
      topic: request.responseTopic ?? "", payload: Array(json.utf8), correlationData: request.correlationData)
  }

  private func list(_ request: Publication, _ networks: String = "[]") -> IncomingMessage {
    answer(request, #"{"data":{"networks":\#(networks)},"status":"ok","v":1}"#)
  }

  private func sealed(_ body: String, _ request: Publication, id: String? = nil, from sender: Identity? = nil) throws
    -> String
  {
    let transaction = String(decoding: request.correlationData ?? [], as: UTF8.self)
    let envelope = try Envelope.seal(
      Array(body.utf8), to: own.keys, from: sender ?? daemon,
      at: .init(topic: request.responseTopic ?? "", order: .identifier(id ?? transaction), now: now, lifetime: 30)
    ).json()
    return #"{"data":{"sealed":\#(String(decoding: envelope, as: UTF8.self))},"status":"ok","v":1}"#
  }

  @Test("A request is sealed to the daemon, and lives for half a minute") func request() throws {
    var requester = requester
    let request = try requester.publication(.preferred, now: now)
    #expect(request.topic == "threadkeeper/in/ha/request/preferred/get")
    #expect(request.responseTopic == "threadkeeper/out/ha/response/preferred/get")
    #expect(request.messageExpiry == 30 && !request.retain)
    let opened = try opened(
      request.payload, with: daemon, from: own, topic: request.topic, now: now, beside: ["transaction"])
    #expect(opened.order == .identifier(String(decoding: request.correlationData ?? [], as: UTF8.self)))
    #expect(String(decoding: opened.body, as: UTF8.self).contains(#""purpose":"write""#))
  }

  @Test("The home's preferred network is that of the list, where its credentials are known") func networks() throws {
    var requester = requester
    for (list, timestamp) in [
      (
        #"[{"ext_pan_id":"3333333344444444","preferred":false,"active_timestamp":9},{"ext_pan_id":"1111111122222222","preferred":true,"active_timestamp":5}]"#,
        5
      ), (#"[{"ext_pan_id":"1111111122222222","preferred":true}]"#, nil), ("[]", nil),
    ] as [(String, UInt64?)] {
      let request = try requester.publication(.networks, now: now)
      let message = self.list(request, list)
      let home = try timestamp.map {
        PreferredSync.Home(network: try #require(ExtendedPANID(hex: "1111111122222222")), timestamp: $0)
      }
      #expect(requester.answer(message, now: now) == .home(home))
      // An answer counts once.
      #expect(requester.answer(message, now: now) == nil)
    }
  }

  @Test("What the broker refuses is known by its topic, and no answer is taken for it") func refused() throws {
    var requester = requester
    let request = try requester.publication(.networks, now: now)
    #expect(requester.command(refusedAt: "threadkeeper/in/ha/credentials") == nil)
    #expect(requester.command(refusedAt: request.topic) == .networks)
    #expect(requester.answer(list(request), now: now) == nil)
  }

  @Test("Credentials count only when the daemon has sealed them, for this request") func credentials() throws {
    var requester = requester
    let dataset = try SampleNetwork.home.dataset(at: 1)
    let record = CredentialRecord(
      agent: nil, network: try #require(dataset.extendedPANID), dataset: dataset, isActive: true)
    let body = String(decoding: AnswerData(credentials: [record]).json(), as: UTF8.self)
    var request = try requester.publication(.preferred, now: now)
    #expect(requester.answer(answer(request, try sealed(body, request)), now: now) == .credentials(dataset))
    for (make, code) in [
      ({ _ in #"{"data":\#(body),"status":"ok","v":1}"# }, "not_sealed"),
      ({ try self.sealed(body, $0, id: "another") }, "invalid_payload"),
      ({ try self.sealed(body, $0, from: try Identity()) }, "unknown_issuer"),
      ({ try self.sealed(#"{"credentials":[]}"#, $0) }, "invalid_payload"),
      ({ _ in #"{"error":{"code":"consent_denied","message":"no"},"status":"error","v":1}"# }, "consent_denied"),
      ({ _ in "nonsense" }, "invalid_payload"),
    ] as [((Publication) throws -> String, String)] {
      request = try requester.publication(.preferred, now: now)
      let answer = requester.answer(answer(request, try make(request)), now: now)
      guard case .refused(.preferred, code, _) = answer else {
        Issue.record("\(code): \(String(describing: answer))")
        continue
      }
    }
  }

  @Test("Answers to others, and retained ones, are none") func others() throws {
    var requester = requester
    let request = try requester.publication(.networks, now: now)
    for change: (inout IncomingMessage) -> Void in [
      { $0.isRetained = true }, { $0.correlationData = Array("another".utf8) }, { $0.correlationData = nil },
      { $0.topic = "threadkeeper/out/ha/response/ping" },
    ] {
      var message = list(request)
      change(&message)
      #expect(requester.answer(message, now: now) == nil)
    }
  }
}

extension PreferredSync.Effect { var note: RouterNote? { if case .log(let note) = self { note } else { nil } } }
