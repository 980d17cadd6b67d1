import Broker
import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import Bridge
@testable import Home
@testable import HomeStore

/// What is answered over MQTT, byte for byte, in files, and what is sealed in it.
@Suite("Bytes of answers") struct AnswerBytesTests {
  private static func line(_ publication: Publication, unsealed: String? = nil) -> String {
    let payload = publication.text.replacing(#/("(?:ct|kid)":")[^"]+/#) { "\($0.output.1)SEALED" }
    return "\(publication.topic) \(payload)\n" + (unsealed.map { "  unsealed: \($0)\n" } ?? "")
  }

  @Test("Each refusal") func refusals() throws {
    let rows = AnswerTextTests.rows.map { row in
      (row.command, AnswerFailure(row.refusal, to: row.command.map { ThreadRequest($0) }))
    }
    let codes = AnswerCode.allCases.map { AnswerFailure($0, field: "id", offset: 7, "why") }
    let ofDatasets = DatasetError.Code.allCases.map {
      AnswerFailure(DatasetError(code: $0, type: 3, offset: 1, message: "why"))
    }
    let all = rows + (codes + ofDatasets).map { (RequestCommand.setPreferred, $0) }
    let exchange = SealedExchange(nil)
    let text = try all.map { command, failure in
      let topic = OutboundTopic(base: "tk").answer(to: "phone", command: command?.rawValue ?? "")
      let message = exchange.message(
        .failure(failure), to: Requester(.login("phone"), team: "phone"),
        at: .topic(topic, correlation: nil, transaction: "t \"1\""), in: Home(rules: HomeRules { 0 }),
        now: WireTime(milliseconds: 0))
      return Self.line(try #require(message).message.publication)
    }.joined()
    try Golden.check(text, "refusals.txt")
    for code in AnswerCode.allCases { #expect(text.contains("\"code\":\"\(code.rawValue)\"")) }
  }

  @Test("Answers to each request and to events, and what a router is sent") func answers() throws {
    let scene = try RequestScene {
      $0.approvers = ["phone"]
      $0.approversMustSign = false
    }
    var text = ""
    func add(_ publications: [Publication]) throws {
      for one in publications {
        let user: ExactName = one.topic.contains("/out/hub/") ? "hub" : "phone"
        text += Self.line(one, unsealed: try scene.unsealedText(one, for: user))
      }
    }
    func ask(_ command: RequestCommand, _ fields: String = "", from user: ExactName = "phone") throws {
      // Nobody asks too often.
      for _ in 0..<3 { try scene.tick() }
      let message = RequestScene.message(
        command.rawValue, "{\(fields.isEmpty ? "" : "\(fields),")\"transaction\":\"t\"}", from: user)
      try scene.kit.receive(message)
      let answers = scene.published()
      try add(answers)
      if answers.isEmpty { text += "\(message.topic) waits\n" }
    }
    func question() throws -> String {
      let waiting = scene.home.questions.last { !$0.isDenied }
      return try #""id":"\#(#require(waiting).id.questionText)""#
    }
    let (agent, other) = (#""border_agent_id":"a000000000000001""#, OperationalDataset.of(2))
    let dataset = OperationalDataset.of(1, at: 5)
    let event = IncomingMessage.message(
      "announce", 9, dataset: .of(9), user: "hub", more: #","name":"Attic","seq":7"#,
      responseTopic: "tk/home/out/hub/response/event/1")
    try scene.kit.receive(event, .message("leave", 8, responseTopic: "tk/home/out/otbr/response/x"))
    try add(scene.published())
    try scene.kit.receive(.message("heartbeat", 8, responseTopic: "tk/home/out/otbr/response/x"))
    try add(scene.published())

    try ask(.ping)
    try ask(.isPreferredAvailable)
    try ask(.storeCredentials, #"\#(agent),"dataset":"\#(dataset.hex)""#)
    try ask(.storeCredentials, #"\#(agent),"dataset":"\#(dataset.hex)""#)
    try ask(.storeCredentials, #"\#(agent),"dataset":"\#(OperationalDataset.of(1, at: 6).hex)""#)
    try ask(.getCredentials, agent)
    try ask(.listCredentials)
    try ask(.listActiveCredentials)
    try ask(.shareCredentials, #""ext_pan_id":"0101010101010101""#)
    try ask(.setPreferred, #""ext_pan_id":"0101010101010101""#)
    try ask(.setPreferred, #""dataset":"\#(dataset.hex)""#)
    try ask(.checkPreferred, #""dataset":"\#(dataset.hex)""#)
    try ask(.checkPreferred, #""dataset":"\#(other.hex)""#)
    for command in [RequestCommand.getPreferred, .nearbyNetworks] {
      try ask(command, from: "hub")
      try ask(.pendingConsents, from: "hub")
      try ask(.approveConsent, try question())
    }
    try ask(.getNetwork, #""ext_pan_id":"0101010101010101""#, from: "hub")
    try ask(.denyConsent, try question())
    try ask(.askConsent, agent)
    try ask(.listRouters)
    try ask(.listNetworks)
    try ask(.listAlerts)
    try ask(.testAlerts, from: "hub")
    try ask(.testAlerts)
    try ask(.confirmAlerts)
    try ask(.forgetNetwork, #""ext_pan_id":"0101010101010101""#)
    try ask(.forgetPreferred)
    try ask(.deleteCredentials, agent)
    try scene.kit.receive(.announce(2, other, user: "hub"))
    for _ in 0..<31 { try scene.tick() }
    try ask(.approveConsent, try question())
    try scene.tick()
    try add(scene.published())
    try Golden.check(text, "answers.txt")
    for command in RequestCommand.allCases {
      #expect(text.contains("/response/\(command.rawValue) "), "nothing answers \(command)")
    }
    #expect(text.contains("/dataset/set "))
  }
}
