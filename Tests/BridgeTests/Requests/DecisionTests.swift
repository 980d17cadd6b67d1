// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Who decides over MQTT")
struct DecisionTests {
  /// How a decision comes.
  struct Row: CustomTestStringConvertible, Sendable {
    var user: ExactName
    var isSealed = false
    var mustSign = true
    var extent: ConsentDecision.Extent? = .all
    var token: String?
    var scope = "once"
    var isAltered = false
    /// Nil: it is taken.
    var field: String??
    var code = AnswerCode.notAuthorized

    var testDescription: String {
      "\(user.text) \(isSealed ? "sealed" : "plain") \(scope) \(token ?? "-") → \(field as Any)"
    }
  }

  private static let rows: [Row] = [
    Row(user: "anna", isSealed: true),
    Row(user: "anna", isSealed: true, scope: "always"),
    Row(user: "anna", field: .some("sealed")),
    Row(user: "anna", mustSign: false),
    Row(user: "phone", isSealed: true, field: .some(nil)),
    Row(user: "ha", token: "right"),
    Row(user: "ha", isSealed: true),
    Row(user: "ha", token: "wrong", field: .some("token")),
    Row(user: "ha", field: .some("token")),
    Row(user: "ha", token: "right", scope: "always", field: .some("scope")),
    Row(user: "ha", extent: .adoptions, token: "right", field: .some("id")),
    Row(user: "ha", extent: nil, token: "right", field: .some(nil)),
    Row(user: "ha", token: "right", isAltered: true, field: .some(nil)),
    Row(user: "hub", isSealed: true, mustSign: false, field: .some(nil)),
  ]

  /// `phone` asks for the preferred network; `anna` is an approver, `ha` is Home Assistant, `hub` is nobody.
  private func scene(_ row: Row? = nil) throws -> RequestScene {
    var scene = try RequestScene()
    for user: ExactName in ["anna", "ha"] { try scene.enroll(user) }
    scene.rules.approvers = ["anna"]
    scene.rules.homeAssistantLogin = "ha"
    scene.rules.homeAssistant = .all
    if let row {
      scene.rules.approversMustSign = row.mustSign
      scene.rules.homeAssistant = row.extent
      scene.buttonsAltered = row.isAltered
    }
    let hex = try OperationalDataset.sample().hex
    _ = scene.ask(
      "credentials/store", #"{"border_agent_id":"0000000000000001","dataset":"\#(hex)"}"#,
      from: "hub")
    #expect(scene.ask("preferred/get", from: "phone") == nil)
    return scene
  }

  @Test("Approvers by their signature, Home Assistant by the button that is shown", arguments: rows)
  func decides(_ row: Row) throws {
    var scene = try scene(row)
    let id = try #require(scene.home.questions.first?.id)
    let token = row.token.map { $0 == "right" ? scene.rules.tokens.token(for: id) : $0 }
    let json =
      #"{"id":"\#(id.questionText)","scope":"\#(row.scope)"\#(token.map { #","token":"\#($0)""# } ?? "")}"#
    let published =
      row.isSealed
      ? try scene.askSealed("consent/approve", json, from: row.user)
      : scene.ask("consent/approve", json, from: row.user)
    if let field = row.field {
      #expect(published?.failure?.known == row.code)
      #expect(published?.failure?.field == field)
      #expect(scene.home.questions.count == 1)
    } else {
      #expect(published?.text == #"{"data":{},"status":"ok","v":1}"#)
      #expect(scene.home.questions.isEmpty)
      #expect(scene.home.grants.count == (row.scope == "always" ? 1 : 0))
      #expect(scene.answerSettled().count == 1)
    }
  }

  @Test(
    "An id that does not wait is stale",
    arguments: [
      ("c-00000000000000ff", "no request c-00000000000000ff waits for consent"),
      ("x", "no request has such an id: expected c- and 16 hexadecimal digits"),
    ])
  func stale(_ id: String, _ message: String) throws {
    var scene = try scene()
    let failure = try scene.askSealed("consent/deny", #"{"id":"\#(id)"}"#, from: "anna")?.failure
    #expect(failure?.known == .staleID)
    #expect(failure?.message == message)
    // Who may not decide learns nothing of ids.
    #expect(
      scene.ask("consent/deny", #"{"id":"\#(id)"}"#, from: "phone")?.failure?.known
        == .notAuthorized)
  }

  @Test("To deny gives the requester an answer, and the same question is refused for a while")
  func denies() throws {
    var scene = try scene()
    let id = try #require(scene.home.questions.first?.id.questionText)
    _ = try scene.askSealed("consent/deny", #"{"id":"\#(id)"}"#, from: "anna")
    let denied = scene.answerSettled().first?.failure
    #expect(denied?.known == .consentDenied)
    #expect(denied?.message == "a person has refused it")
    #expect(scene.ask("preferred/get", from: "phone")?.failure?.known == .consentDenied)
  }

  @Test("Nobody of this machine decides but the daemon's own user and root")
  func local() throws {
    var scene = try scene()
    let id = try #require(scene.home.questions.first?.id.questionText)
    let failure = #expect(throws: AnswerFailure.self) {
      try scene.call(.denyConsent) { $0.id = id }
    }
    #expect(failure?.message == "only the daemon's own user and root decide here")
    #expect(throws: AnswerFailure.self) {
      try scene.call(.askConsent) { $0.agent = BorderAgentID(high: 1, low: 0) }
    }
    let asked = #expect(throws: AnswerFailure.self) {
      try scene.call(.askConsent, as: 0, isAdministrator: true) {
        $0.agent = BorderAgentID(high: 1, low: 0)
      }
    }
    #expect(asked?.known == .notFound)
    _ = try scene.call(.denyConsent, as: 0, isAdministrator: true) { $0.id = id }
    #expect(scene.home.decisions.last?.by == .commandLine(user: 0))
  }

  @Test("Home Assistant prefers a network by its button, while none is preferred")
  func choice() throws {
    var scene = try scene()
    let network = ExtendedPANID(number: 0x0101_0101_0101_0101)
    let token = scene.rules.tokens.token(forPreferring: network)
    let json = #"{"ext_pan_id":"\#(network)","token":"\#(token)"}"#
    #expect(scene.ask("preferred/set", json, from: "ha")?.failure?.known == .notAuthorized)
    _ = try scene.call(.forgetPreferred, as: 0, isAdministrator: true)
    scene.buttonsAltered = true
    #expect(scene.ask("preferred/set", json, from: "ha")?.failure?.known == .notAuthorized)
    scene.buttonsAltered = false
    #expect(scene.ask("preferred/set", json, from: "phone")?.failure?.known == .notAuthorized)
    #expect(scene.ask("preferred/set", json, from: "ha")?.answer?.data?.changed == true)
    #expect(scene.home.preferred?.dataset.network == network)
  }

  @Test(
    "Home Assistant is asked what its login may decide, and nothing else",
    arguments: [
      (.all, "ha", .broker, 1), (.adoptions, "ha", .broker, 0), (nil, "ha", .broker, 0),
      (.all, "ha", .signed, 0), (.all, "phone", .broker, 0),
    ] as [(ConsentDecision.Extent?, ExactName, EnrolledClient.Trust, Int)])
  func asked(
    _ extent: ConsentDecision.Extent?, _ login: ExactName, _ trust: EnrolledClient.Trust,
    _ count: Int
  ) throws {
    var scene = try scene()
    try scene.enroll("ha", trust: trust)
    scene.rules.homeAssistant = extent
    scene.rules.homeAssistantLogin = login
    func asked() -> Int {
      scene.rules.asked(in: scene.home, team: { $0 }, at: scene.now).count
    }
    #expect(asked() == count)
    scene.now = scene.now.adding(seconds: 120)
    #expect(asked() == 0)
  }

  @Test("While no network is preferred, Home Assistant chooses one of those that routers are on")
  func choices() throws {
    var scene = try scene()
    for network in 1...7 as ClosedRange<UInt8> {
      let agent = BorderAgentID(high: UInt64(network) + 10, low: 0)
      let dataset = try OperationalDataset.sample(network, name: "n\(8 - network)")
      var message = RouterMessage(.announce, .router(agent))
      message.dataset = dataset.summary
      scene.handle(.message(message, from: "hub"), dataset)
    }
    #expect(scene.rules.choices(in: scene.home).isEmpty)
    _ = try scene.call(.forgetPreferred, as: 0, isAdministrator: true)
    #expect(scene.rules.choices(in: scene.home).map(\.name) == ["n1", "n2", "n3", "n4", "n5"])
    scene.rules.homeAssistant = nil
    #expect(scene.rules.choices(in: scene.home).isEmpty)
  }
}
