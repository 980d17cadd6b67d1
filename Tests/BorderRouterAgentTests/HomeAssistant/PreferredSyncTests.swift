// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing
import ThreadDataset

@testable import BorderRouterAgent
@testable import Broker

/// A row of the machine's table each.
@Suite("Home Assistant's preferred network is kept that of the home")
struct PreferredSyncTests {
  private let home: PreferredSync.Home
  private let network: ExtendedPANID
  private let dataset: OperationalDataset
  /// Prefers another network.
  private let other: StoreSummary

  init() throws {
    dataset = try SampleNetwork.home.dataset(at: 5)
    network = try #require(dataset.extendedPANID)
    home = .init(network: network, timestamp: 5)
    other = StoreSummary(
      preferred: ExtendedPANID(hex: "3333333344444444"), timestamps: [network: 5])
  }

  private struct Bench {
    var sync = PreferredSync()
    var now = Duration.zero

    @discardableResult
    mutating func handle(_ event: PreferredSync.Event, after seconds: Int = 60) -> [PreferredSync
      .Effect]
    {
      now += .seconds(seconds)
      return sync.handle(event, at: now)
    }

    mutating func asks(_ home: PreferredSync.Home?, _ store: StoreSummary, after seconds: Int = 60)
      -> Bool
    {
      handle(.compared(home, store), after: seconds).contains(.ask)
    }
  }

  /// After a question that was answered so.
  private func answered(_ code: String) -> Bench {
    var bench = Bench()
    #expect(bench.asks(home, other) == true)
    #expect(
      bench.handle(.refused(code: code, message: "no")).contains { $0.note?.level == .warning })
    return bench
  }

  @Test("Without a difference, or without credentials of the home's, nothing is asked")
  func none() {
    var bench = Bench()
    let newer = StoreSummary(preferred: network, timestamps: [network: 6])
    #expect(!bench.asks(nil, other) && !bench.asks(home, newer))

    #expect(bench.asks(home, StoreSummary(preferred: network, timestamps: [network: 5])) == false)
  }

  @Test("Another preferred network, none or no dataset is asked about, once")
  func asks() {
    for store in [
      other, StoreSummary(preferred: nil, timestamps: [network: 5]), StoreSummary(preferred: nil),
    ] {
      var bench = Bench()
      let effects = bench.handle(.compared(home, store))
      #expect(effects.first == .ask && effects.last?.note?.level == .info)
      #expect(!bench.asks(home, store) && !bench.asks(home, store))
    }
  }

  @Test("A difference in the time alone is asked about when the dataset was read again")
  func checks() {
    let old = StoreSummary(preferred: network, timestamps: [network: 4])
    var bench = Bench()
    #expect(bench.handle(.compared(home, old)) == [.reread(network)])
    #expect(bench.asks(home, old) && !bench.asks(home, old))
    // It was newer there than the list had shown.
    bench = Bench()
    #expect(bench.handle(.compared(home, old)) == [.reread(network)])
    #expect(bench.asks(home, StoreSummary(preferred: network, timestamps: [network: 5])) == false)
    #expect(bench.handle(.compared(home, old)) == [.reread(network)])
    // Another one by then.
    let next = PreferredSync.Home(network: network, timestamp: 6)
    #expect(bench.handle(.compared(next, old)) == [.reread(network)])
    #expect(bench.asks(next, old) == true)
  }

  @Test("What is written is not asked about again, while Home Assistant's list does not show it")
  func writtenAndStale() {
    let old = StoreSummary(preferred: network, timestamps: [network: 4])
    var bench = Bench()
    bench.handle(.compared(home, old))
    #expect(bench.asks(home, old) == true)
    bench.handle(.credentials(dataset))
    bench.handle(.written)
    #expect(bench.handle(.compared(home, old)) == [.reread(network)])
    #expect(bench.asks(home, StoreSummary(preferred: network, timestamps: [network: 5])) == false)
  }

  @Test("Where Home Assistant's dataset of the network can't be used, that is said and not asked")
  func unusable() {
    for preferred in [network, nil] {
      var bench = Bench()
      let store = StoreSummary(preferred: preferred, unusable: [network])
      #expect(
        bench.handle(.compared(home, store)).map(\.note?.text) == [PreferredSync.keepsAnother])
      #expect(bench.handle(.compared(home, store)) == [])
      // Deleted there.
      #expect(bench.asks(home, StoreSummary(preferred: nil)) == true)
    }
  }

  @Test("After a broken connection to the broker a question is sent again")
  func connected() {
    var bench = Bench()
    #expect(bench.handle(.connected) == [] && bench.asks(home, other))
    #expect(bench.handle(.connected, after: 100) == [.ask])
    // The time begins again.
    #expect(bench.handle(.compared(home, other), after: 179) == [])
    #expect(bench.handle(.credentials(dataset)) == [.write(dataset)])
    #expect(bench.handle(.connected) == [])
    // What has waited too long is left to the next look.
    var late = Bench()
    #expect(late.asks(home, other) && late.handle(.connected, after: 181) == [])
  }

  @Test("What a person has agreed to is written, and then there is nothing to do")
  func writes() {
    var bench = Bench()
    #expect(bench.asks(home, other) == true)
    #expect(
      bench.handle(.credentials(dataset)) == [.write(dataset)] && bench.sync.pending == dataset)
    #expect(bench.asks(home, other) == false)
    #expect(bench.handle(.written).first?.note?.level == .info && bench.sync.pending == nil)
    // Changed back in Home Assistant: another question.
    #expect(bench.asks(home, other) == true)
  }

  @Test("Credentials of another network, and those that nobody has asked for, are not written")
  func wrong() throws {
    var bench = Bench()
    #expect(bench.handle(.credentials(dataset)) == [] && bench.sync.pending == nil)
    #expect(bench.asks(home, other) == true)
    #expect(try bench.handle(.credentials(SampleNetwork.guest.dataset(at: 1))) == [])
    #expect(
      bench.sync.pending == nil && !bench.asks(home, other, after: 599)
        && bench.asks(home, other, after: 1))
  }

  @Test("After a denial it is not asked until either side has changed, and a day has passed")
  func denied() {
    let inStep = StoreSummary(preferred: network, timestamps: [network: 5])
    var bench = answered("consent_denied")
    #expect(bench.asks(home, other, after: 864_000) == false)
    #expect(bench.asks(.init(network: network, timestamp: 6), other) == true)
    bench = answered("consent_denied")
    let none = StoreSummary(preferred: nil, timestamps: [network: 5])
    #expect(!bench.asks(home, none, after: 86_399) && bench.asks(home, none, after: 1))
    bench = answered("consent_denied")
    // In step for a moment.
    #expect(!bench.asks(home, inStep, after: 60) && !bench.asks(home, other, after: 86_339))
    #expect(bench.asks(home, other, after: 1) == true)
    // What nobody knows ends no denial.
    bench = answered("consent_denied")
    #expect(!bench.asks(nil, other, after: 864_000) && !bench.asks(home, other))
  }

  @Test("A denial is remembered by the next run, and forgotten when there is no difference")
  func remembered() throws {
    var bench = Bench()
    #expect(bench.asks(home, other) == true)
    let effects = bench.handle(.refused(code: "consent_denied", message: "no"))
    guard case .remember(let denied?) = effects.first else {
      Issue.record("it is remembered: \(effects)")
      return
    }
    #expect(denied == "\(network) 5 3333333344444444 5")
    var next = Bench(sync: PreferredSync(denied: denied))
    #expect(!next.asks(home, other) && next.handle(.compared(home, other)) == [])
    let inStep = StoreSummary(preferred: network, timestamps: [network: 5])
    #expect(next.handle(.compared(home, inStep)) == [.remember(nil)])
    #expect(next.handle(.compared(home, inStep)) == [] && next.asks(home, other))
  }

  @Test(
    "When nobody has decided it is asked again after a day",
    arguments: ["consent_expired", "consent_required"])
  func expired(code: String) {
    var bench = answered(code)
    #expect(!bench.asks(home, other, after: 86_399) && bench.asks(home, other, after: 1))
  }

  @Test("Another answer, or none, is logged once, and it is asked again after ten minutes")
  func otherAnswers() {
    var bench = answered("not_enrolled")
    #expect(!bench.asks(home, other, after: 599) && bench.asks(home, other, after: 1))

    #expect(bench.handle(.refused(code: "not_enrolled", message: "no")) == [])
    bench = Bench()
    #expect(bench.asks(home, other) && !bench.asks(home, other, after: 179))

    #expect(bench.handle(.compared(home, other), after: 1).first?.note?.level == .warning)
    #expect(!bench.asks(home, other, after: 599) && bench.asks(home, other, after: 1))

  }

  @Test(
    "What Home Assistant does not take is logged, and not asked again until either side has changed"
  )
  func notTaken() {
    var bench = Bench()
    #expect(bench.asks(home, other) == true)
    bench.handle(.credentials(dataset))
    let effects = bench.handle(.notTaken("no"))
    #expect(effects.first?.note?.text == "no" && bench.sync.pending == nil)
    #expect(effects.contains { if case .remember(.some) = $0 { true } else { false } })
    #expect(bench.asks(home, other, after: 864_000) == false)
  }

  @Test("During trouble it is tried for a minute, and then the dataset is not kept")
  func trouble() {
    var bench = Bench()
    #expect(bench.asks(home, other) == true)
    bench.handle(.credentials(dataset))
    #expect(bench.handle(.troubled, after: 59) == [] && bench.sync.pending == dataset)
    #expect(bench.handle(.troubled, after: 1).first?.note?.level == .warning)
    #expect(
      bench.sync.pending == nil && !bench.asks(home, other, after: 86_399)
        && bench.asks(home, other, after: 1))
    #expect(bench.handle(.troubled) == [])
  }
}

@Suite("Sealed requests of the agent")
struct SealedRequesterTests {
  private let own: Identity
  private let daemon: Identity
  private let now: Int64 = 1_800_000_000

  init() throws {
    own = try Identity()
    daemon = try Identity()
  }

  private var requester: SealedRequester {
    SealedRequester(
      base: "threadkeeper", user: "ha", keys: AgentKeys(own: own, daemon: daemon.keys))
  }

  private func answer(_ request: Publication, _ json: String) -> IncomingMessage {
    IncomingMessage(
      topic: request.responseTopic ?? "", payload: Array(json.utf8),
      correlationData: request.correlationData)
  }

  private func sealed(
    _ body: String, _ request: Publication, id: String? = nil, from sender: Identity? = nil
  ) throws -> String {
    let transaction = String(decoding: request.correlationData ?? [], as: UTF8.self)
    let envelope = try Envelope.seal(
      Array(body.utf8), to: own.keys, from: sender ?? daemon,
      at: .init(
        topic: request.responseTopic ?? "", order: .identifier(id ?? transaction), now: now,
        lifetime: 30))
    return #"{"data":{"sealed":\#(String(decoding: envelope, as: UTF8.self))},"status":"ok","v":1}"#
  }

  @Test("A request is sealed to the daemon, and lives for half a minute")
  func request() throws {
    var requester = requester
    let request = try requester.publication(.preferred, now: now)
    #expect(request.topic == "threadkeeper/in/ha/request/preferred/get")
    #expect(request.responseTopic == "threadkeeper/out/ha/response/preferred/get")
    #expect(request.messageExpiry == 30 && !request.retain)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(request.payload)) as? [String: Any])
    #expect(Set(object.keys) == ["transaction", "sealed"])
    let opened = try Envelope.open(
      Array(JSONSerialization.data(withJSONObject: try #require(object["sealed"]))), with: daemon,
      from: [own.keys], topic: request.topic, now: now)
    #expect(
      opened.order == .identifier(String(decoding: request.correlationData ?? [], as: UTF8.self)))
  }

  @Test("The home's preferred network is that of the list, where its credentials are known")
  func networks() throws {
    var requester = requester
    for (list, timestamp) in [
      (
        #"[{"ext_pan_id":"3333333344444444","preferred":false,"active_timestamp":9},{"ext_pan_id":"1111111122222222","preferred":true,"active_timestamp":5}]"#,
        5
      ),
      (#"[{"ext_pan_id":"1111111122222222","preferred":true}]"#, nil), ("[]", nil),
    ] as [(String, UInt64?)] {
      let request = try requester.publication(.networks, now: now)
      let message = answer(request, #"{"data":{"networks":\#(list)},"status":"ok","v":1}"#)
      let home = try timestamp.map {
        PreferredSync.Home(
          network: try #require(ExtendedPANID(hex: "1111111122222222")), timestamp: $0)
      }
      #expect(requester.answer(message, now: now) == .home(home))
      // An answer counts once.
      #expect(requester.answer(message, now: now) == nil)
    }
  }

  @Test("What is no list is ignored, and the answer is still waited for")
  func noList() throws {
    var requester = requester
    let request = try requester.publication(.networks, now: now)
    for forged in [
      "nonsense", "{}", #"{"data":{},"status":"ok","v":1}"#,
      #"{"data":{"networks":{}},"status":"ok","v":1}"#,
    ] {
      #expect(requester.answer(answer(request, forged), now: now) == nil)
    }
    let list = answer(request, #"{"data":{"networks":[]},"status":"ok","v":1}"#)
    #expect(requester.answer(list, now: now) == .home(nil))
  }

  @Test("What the broker refuses is known by its topic, and no answer is taken for it")
  func refused() throws {
    var requester = requester
    let request = try requester.publication(.networks, now: now)
    #expect(requester.command(refusedAt: "threadkeeper/in/ha/credentials") == nil)
    #expect(requester.command(refusedAt: request.topic) == .networks)
    let list = answer(request, #"{"data":{"networks":[]},"status":"ok","v":1}"#)
    #expect(requester.answer(list, now: now) == nil)
  }

  @Test("Credentials count only when the daemon has sealed them, for this request")
  func credentials() throws {
    var requester = requester
    let dataset = try SampleNetwork.home.dataset(at: 1)
    let body = #"{"credentials":[{"dataset":"\#(dataset.hex)"}]}"#
    var request = try requester.publication(.preferred, now: now)
    #expect(
      requester.answer(answer(request, try sealed(body, request)), now: now)
        == .credentials(dataset))
    for (make, code) in [
      ({ _ in #"{"data":\#(body),"status":"ok","v":1}"# }, "not_sealed"),
      ({ try self.sealed(body, $0, id: "another") }, "invalid_payload"),
      ({ try self.sealed(body, $0, from: try Identity()) }, "unknown_issuer"),
      ({ try self.sealed(#"{"credentials":[]}"#, $0) }, "invalid_payload"),
      (
        { _ in #"{"error":{"code":"consent_denied","message":"no"},"status":"error","v":1}"# },
        "consent_denied"
      ),
      ({ _ in "nonsense" }, "invalid_payload"),
    ] as [((Publication) throws -> String, String)] {
      request = try requester.publication(.preferred, now: now)
      guard
        case .refused(.preferred, let found, _) = requester.answer(
          answer(request, try make(request)), now: now)
      else {
        Issue.record("\(code) is refused")
        continue
      }
      #expect(found == code)
    }
  }

  @Test("Answers to others, and retained ones, are none")
  func others() throws {
    var requester = requester
    let request = try requester.publication(.networks, now: now)
    var message = answer(request, #"{"data":{"networks":[]},"status":"ok","v":1}"#)
    message.isRetained = true
    #expect(requester.answer(message, now: now) == nil)
    message.isRetained = false
    message.correlationData = Array("another".utf8)
    #expect(requester.answer(message, now: now) == nil)
    message.correlationData = nil
    #expect(requester.answer(message, now: now) == nil)
    message = answer(request, "{}")
    message.topic = "threadkeeper/out/ha/response/ping"
    #expect(requester.answer(message, now: now) == nil)
  }
}

extension PreferredSync.Effect {
  var note: RouterNote? { if case .log(let note) = self { note } else { nil } }
}
