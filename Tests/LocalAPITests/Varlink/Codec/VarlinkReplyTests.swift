// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LocalAPI

@Suite("Replies")
struct VarlinkReplyTests {
  private struct Value: Codable, Equatable { var shownName: String? }

  private func read(_ text: String) throws -> VarlinkReply<Value> {
    try VarlinkReply<Value>(reading: Array(text.utf8))
  }

  @Test("They come back as they were sent")
  func encoded() throws {
    for continues in [false, true] {
      let sent = try VarlinkReply(parameters: Value(shownName: "a"), continues: continues).encoded()
      let text = String(decoding: sent, as: UTF8.self)
      #expect(
        text == (continues ? "{\"continues\":true," : "{")
          + "\"parameters\":{\"shown_name\":\"a\"}}")
      let reply = try read(text)
      #expect(reply.parameters == Value(shownName: "a"))
      #expect(reply.continues == continues)
    }
    #expect(try read("{}").parameters == Value())
    #expect(try read("{\"parameters\":null,\"error\":null,\"x\":1}").parameters == Value())
  }

  private struct Named: Codable, Equatable, VarlinkFieldNames {
    var agentID: String?
    enum CodingKeys: String, CodingKey { case agentID = "agent_id" }
  }

  @Test("A type that names its fields has them on the wire as they are")
  func namedFields() throws {
    let value = Named(agentID: "a")
    let sent = try VarlinkReply(parameters: value, continues: false).encoded()
    #expect(String(decoding: sent, as: UTF8.self) == "{\"parameters\":{\"agent_id\":\"a\"}}")
    #expect(try VarlinkReply<Named>(reading: sent).parameters == value)
    let call = try VarlinkCall(reading: try VarlinkCall.encode("a.B", value))
    #expect(try call.parameters(Named.self) == value)
  }

  @Test("An error is thrown with those of its parameters that are texts or whole numbers")
  func errors() throws {
    let sent = VarlinkError.invalidParameter("a").encoded()
    #expect(
      String(decoding: sent, as: UTF8.self)
        == "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"a\"}}"
    )
    #expect(throws: VarlinkError.invalidParameter("a")) {
      try VarlinkReply<Value>(reading: sent)
    }
    #expect(throws: VarlinkError("a.B", ["c": "d", "e": .int(7)])) {
      try read("{\"error\":\"a.B\",\"parameters\":{\"c\":\"d\",\"e\":7,\"f\":[],\"g\":null}}")
    }
    #expect(throws: VarlinkError("a.B")) { try read("{\"error\":\"a.B\"}") }
  }

  @Test(
    "What is no reply of this type is malformed",
    arguments: [
      "", "[]", "{\"parameters\":7}", "{\"parameters\":{\"shown_name\":7}}", "{\"error\":7}",
      "{\"continues\":1}", "{",
    ])
  func malformed(text: String) {
    let error = #expect(throws: SocketError.self) { try read(text) }
    #expect(error?.reason == .malformed)
  }
}
