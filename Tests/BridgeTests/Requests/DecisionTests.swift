import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("Who decides over MQTT") struct DecisionTests {
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
    Row(user: "anna", isSealed: true), Row(user: "anna", isSealed: true, scope: "always"),
    Row(user: "anna", field: .some("sealed")), Row(user: "anna", mustSign: false),
    Row(user: "phone", isSealed: true, field: .some(nil)), Row(user: "ha", token: "right"),
    Row(user: "ha", isSealed: true), Row(user: "ha", token: "wrong", field: .some("token")),
    Row(user: "ha", field: .some("token")), Row(user: "ha", token: "right", scope: "always", field: .some("scope")),
    Row(user: "ha", extent: .adoptions, token: "right", field: .some("id")),
    Row(user: "ha", extent: nil, token: "right", field: .some(nil)),
    Row(user: "ha", token: "right", isAltered: true, field: .some(nil)),
    Row(user: "hub", isSealed: true, mustSign: false, field: .some(nil)),
  ]

  /// `phone` asks for the preferred network; `anna` is an approver, `ha` is Home Assistant, `hub` is nobody.
  private func scene(_ row: Row? = nil) throws -> RequestScene {
    let scene = try RequestScene {
      $0.approvers = ["anna"]
      $0.homeAssistantLogin = "ha"
      $0.homeAssistant = .all
      if let row { ($0.approversMustSign, $0.homeAssistant) = (row.mustSign, row.extent) }
    }
    for user: ExactName in ["anna", "ha"] { try scene.enroll(user) }
    scene.buttonsAltered = row?.isAltered == true
    try scene.kit.receive(.announce(1, user: "hub"))
    #expect(try scene.ask("preferred/get") == nil)
    return scene
  }

  @Test("Approvers by their signature, Home Assistant by the button that is shown", arguments: rows) func decides(
    _ row: Row
  ) throws {
    let scene = try scene(row)
    let id = try #require(scene.home.questions.first?.id)
    let token = row.token.map { $0 == "right" ? scene.rules.tokens.token(for: id) : $0 }
    let json = #"{"id":"\#(id.questionText)","scope":"\#(row.scope)"\#(token.map { #","token":"\#($0)""# } ?? "")}"#
    let published =
      row.isSealed
      ? try scene.askSealed("consent/approve", json, from: row.user)
      : try scene.ask("consent/approve", json, from: row.user)
    if let field = row.field {
      #expect(published?.failure?.known == row.code)
      #expect(published?.failure?.field == field)
      #expect(scene.home.questions.count == 1)
    } else {
      #expect(published?.text == #"{"data":{},"status":"ok","v":1}"#)
      #expect(scene.home.questions.isEmpty)
      #expect(scene.home.grants.count == (row.scope == "always" ? 1 : 0))
      #expect(scene.published().count == 1)
    }
  }

  @Test(
    "An id that does not wait is stale",
    arguments: [
      ("c-00000000000000ff", "no request c-00000000000000ff waits for consent"),
      ("x", "no request has such an id: expected c- and 16 hexadecimal digits"),
    ]) func stale(_ id: String, _ message: String) throws
  {
    let scene = try scene()
    let failure = try scene.askSealed("consent/deny", #"{"id":"\#(id)"}"#, from: "anna")?.failure
    #expect(failure?.known == .staleID)
    #expect(failure?.message == message)
    // Who may not decide learns nothing of ids.
    let foreign = try scene.ask("consent/deny", #"{"id":"\#(id)"}"#)?.failure
    #expect(foreign?.known == .notAuthorized)
  }

  @Test("To deny gives the requester an answer, and the same question is refused for a while") func denies() throws {
    let scene = try scene()
    let id = try #require(scene.home.questions.first?.id.questionText)
    try scene.askSealed("consent/deny", #"{"id":"\#(id)"}"#, from: "anna")
    #expect(scene.published().first?.failure?.known == .consentDenied)
    #expect(try scene.ask("preferred/get")?.failure?.known == .consentDenied)
  }

  @Test("Nobody of this machine decides but the daemon's own user and root") func local() throws {
    let scene = try scene()
    let id = try #require(scene.home.questions.first?.id.questionText)
    for command in [RequestCommand.denyConsent, .askConsent] {
      let answer = try scene.answered(command, as: 1_000) { ($0.id, $0.agent) = (id, .number(1)) }
      #expect(answer.error?.message == "only the daemon's own user and root decide here")
    }
    let asked = try scene.answered(.askConsent) { $0.agent = .number(1) }
    #expect(asked.error?.known == .notFound)
    try scene.answered(.denyConsent) { $0.id = id }
    #expect(scene.home.decisions.last?.by == .commandLine(user: 0))
  }

  @Test("Whoever decides has an alert sent that is a test, and says that it has arrived") func alerts() throws {
    let scene = try scene()
    #expect(try scene.ask("alerts/test", "{}", from: "hub")?.failure?.known == .notAuthorized)
    #expect(scene.home.alerts[AlertKey(.testAlert)] == nil)
    #expect(try scene.ask("alerts/test", "{}", from: "ha")?.answer?.status == .ok)
    #expect(
      scene.home.alerts[AlertKey(.testAlert)]?.phase == .firing && scene.home.protection.missing.contains(.alerts))
    #expect(try scene.ask("alerts/confirm", "{}", from: "hub")?.failure?.known == .notAuthorized)
    #expect(try scene.ask("alerts/confirm", "{}", from: "ha")?.answer?.status == .ok)
    #expect(scene.home.alerts[AlertKey(.testAlert)]?.phase == .resolved)
    #expect(!scene.home.protection.missing.contains(.alerts))
  }

  @Test("Home Assistant prefers a network by its button, while none is preferred") func choice() throws {
    let scene = try scene()
    let network = ExtendedPANID(number: 0x0101_0101_0101_0101)
    let token = scene.rules.tokens.token(forPreferring: network)
    let json = #"{"ext_pan_id":"\#(network)","token":"\#(token)"}"#
    func prefer(from user: ExactName = "ha") throws -> ThreadAnswer? {
      try scene.ask("preferred/set", json, from: user)?.answer
    }
    #expect(try prefer()?.error?.known == .notAuthorized)
    try scene.answered(.forgetPreferred)
    scene.buttonsAltered = true
    #expect(try prefer()?.error?.known == .notAuthorized)
    scene.buttonsAltered = false
    #expect(try prefer(from: "phone")?.error?.known == .notAuthorized)
    #expect(try prefer()?.data?.changed == true)
    #expect(scene.home.preferred?.dataset.network == network)
  }

  @Test("Home Assistant keeps the current keys by its button, while they are disputed") func dispute() throws {
    let scene = try scene()
    for number in [1, 2] { try scene.kit.receive(.announce(number, user: "hub")) }
    let since = try #require(scene.home.preferred?.changedAt)
    let token = scene.rules.tokens.token(forKeepingKeysSince: since)
    func keep(_ token: String, from user: ExactName = "ha") throws -> ThreadAnswer? {
      try scene.ask("preferred/set", #"{"id":"p-current","token":"\#(token)"}"#, from: user)?.answer
    }
    #expect(try keep(token)?.error?.known == .notAuthorized)
    try scene.kit.receive(.announce(1, .of(1, key: 2, at: 2), user: "hub"))
    for _ in 0..<31 { try scene.tick() }
    #expect(scene.home.disputedKeys == since && scene.rules.disputedKeys(in: scene.home) == since)
    let other = scene.rules.tokens.token(forKeepingKeysSince: since.adding(seconds: 1))
    #expect(try keep(other)?.error?.known == .notAuthorized)
    #expect(try keep(token, from: "phone")?.error?.known == .notAuthorized)
    scene.buttonsAltered = true
    #expect(try keep(token)?.error?.known == .notAuthorized)
    scene.buttonsAltered = false
    #expect(try keep(token)?.data?.changed == false)
    #expect(scene.home.disputedKeys == nil && scene.home.preferred?.changedAt == since)
  }

  @Test(
    "Home Assistant is asked what its login may decide, and nothing else",
    arguments: [
      (.all, "ha", .broker, 1), (.adoptions, "ha", .broker, 0), (nil, "ha", .broker, 0), (.all, "ha", .signed, 0),
      (.all, "phone", .broker, 0),
    ] as [(ConsentDecision.Extent?, ExactName, EnrolledClient.Trust, Int)]) func asked(
      _ extent: ConsentDecision.Extent?, _ login: ExactName, _ trust: EnrolledClient.Trust, _ count: Int
    ) throws
  {
    let scene = try scene()
    try scene.enroll("ha", trust: trust)
    var rules = scene.rules
    (rules.homeAssistant, rules.homeAssistantLogin) = (extent, login)
    func asked(after seconds: Int) -> Int {
      rules.asked(in: scene.home, team: { $0 }, at: scene.now.adding(seconds: seconds)).count
    }
    #expect(asked(after: 0) == count && asked(after: 120) == 0)
  }

  @Test("While no network is preferred, Home Assistant chooses one of those that routers are on") func choices() throws
  {
    let scene = try scene()
    for network: UInt8 in 1...7 {
      let dataset = OperationalDataset.of(network, at: 2, name: "n\(8 - network)")
      try scene.kit.receive(.announce(Int(network), dataset, user: "hub"))
    }
    #expect(scene.rules.choices(in: scene.home).isEmpty)
    try scene.answered(.forgetPreferred)
    #expect(scene.rules.choices(in: scene.home).map(\.name) == ["n1", "n2", "n3", "n4", "n5"])
    var rules = scene.rules
    rules.homeAssistant = nil
    #expect(rules.choices(in: scene.home).isEmpty)
  }
}
