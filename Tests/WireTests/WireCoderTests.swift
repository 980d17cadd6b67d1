import Home
import Testing
import ThreadDataset
import ThreadkeeperSupport

@testable import Wire

@Suite("A message, declared once") struct WireCoderTests {
  private enum Color: String, WireName { case red, green }

  private struct Inner: WirePart {
    var number = 1
    static var sample: Inner { Inner() }
    static var form: WireForm { WireForm(name: "inner", "Within.") }
    var rules: String { #""maxProperties": 2"# }
    func fields<Coder: WireCoder>(_ c: inout Coder) { c.needed("number", number, "Any.") }
  }

  private struct Sample: WireMessage {
    var agent: BorderAgentID?
    var color = Color.red
    var count: UInt32?
    var inner: [Inner]?
    var isOn: Bool?
    var key: String?
    var name = ""
    var state: ThreadState?

    mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.field("agent", &agent)
      c.needed("color", &color, "Of it.")
      c.field("count", &count, WireForm("How many.", least: 2, most: 9))
      c.field("inner", inner, .filled("Others."))
      c.field("is_on", &isOn, "Whether.")
      c.field("key", &key, WireForm("Of the network.", pattern: "^[0-9a-f]*$", isSecret: true))
      c.needed("name", &name, WireForm(name: "name", "What it is called.", least: 1, most: 3))
      c.field("state", &state)
    }
  }

  private func text(_ sample: Sample) -> String { String(decoding: sample.json(), as: UTF8.self) }

  @Test("It is written in the order of its fields, without those that are nil") func writing() {
    var sample = Sample()
    #expect(text(sample) == #"{"color":"red","name":""}"#)
    sample.agent = BorderAgentID(high: 1, low: 0)
    sample.color = .green
    sample.count = 7
    sample.inner = [Inner(), Inner(number: -20)]
    sample.isOn = false
    sample.name = "a\"b\u{1}"
    sample.state = .leader
    #expect(
      text(sample) == #"{"agent":"0000000000000001","color":"green","count":7,"inner":[{"number":1},{"number":-20}],"#
        + #""is_on":false,"name":"a\"b\u0001","state":"leader"}"#)
  }

  @Test("An object of any names has them in the order of their bytes, with escapes") func names() {
    var json = JSONWriter()
    ["b": ["x"], "a\"": [], "B": ["y", "\u{1F}"]].write(to: &json)
    #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"B":["y","\u001f"],"a\"":[],"b":["x"]}"#)
  }

  private func read(_ json: String) throws -> Sample { try Sample(reading: Array(json.utf8), depth: 2) }

  @Test("What is written is read again, in any order and among other fields; null is none") func reading() throws {
    var sample = Sample()
    sample.agent = BorderAgentID(high: 1, low: 2)
    sample.count = 9
    sample.isOn = true
    sample.name = "né"
    sample.state = .child
    #expect(text(try read(text(sample))) == text(sample))
    let other = try read(#" {"x":[1], "name":"a", "is_on":null, "color":"green", "count":2} "#)
    #expect(text(other) == #"{"color":"green","count":2,"name":"a"}"#)
  }

  @Test(
    "What is wrong is named, with its field and its place",
    arguments: [
      (#"{"name":"a"}"#, WireProblem(reason: .missing, field: "color", offset: nil)),
      (#"{"color":null,"name":"a"}"#, WireProblem(reason: .missing, field: "color", offset: nil)),
      (#"{"color":"blue","name":"a"}"#, WireProblem(reason: .badValue, field: "color", offset: 9)),
      (#"{"color":"red","name":""}"#, WireProblem(reason: .badValue, field: "name", offset: 22)),
      (#"{"color":"red","name":"abcd"}"#, WireProblem(reason: .badValue, field: "name", offset: 22)),
      (#"{"color":"red","name":"a","count":1}"#, WireProblem(reason: .badValue, field: "count", offset: 34)),
      (
        #"{"color":"red","name":"a","count":"3"}"#,
        WireProblem(reason: .wrongType(.number(bits: 32)), field: "count", offset: 34)
      ), (#"{"color":"red","name":"a","agent":"00"}"#, WireProblem(reason: .badValue, field: "agent", offset: 34)),
      (#"{"color":"red","name":"\ud800"}"#, WireProblem(reason: .unpairedSurrogate, field: "name", offset: 22)),
      ("[1]", WireProblem(reason: .notAnObject, field: nil, offset: 0)),
      (#"{"a":[[1]]}"#, WireProblem(reason: .json(.tooDeep), field: nil, offset: 6)),
      (#"{"a""#, WireProblem(reason: .json(.syntax), field: nil, offset: 4)),
    ]) func problems(json: String, problem: WireProblem)
  { #expect(throws: problem) { try read(json) } }

  @Test("Of several fields with one name the first that is not null counts") func duplicates() throws {
    let sample = try read(#"{"name":null,"color":"red","name":"a","name":7,"color":"green"}"#)
    #expect(text(sample) == #"{"color":"red","name":"a"}"#)
  }

  private struct Loose: WireMessage {
    var size: UInt8?
    var shade: String?
    mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.field("shade", &shade, nil, .typeOnly)
      c.field("size", &size, WireForm("", most: 9), .anyType)
    }
  }

  @Test(
    "A field that says nothing must be of its type, and one that may have any type counts where it can",
    arguments: [
      ("{}", nil, nil), (#"{"shade":"x","size":3}"#, 3, nil), (#"{"size":"3"}"#, nil, nil),
      (#"{"size":[],"size":4}"#, 4, nil), (#"{"size":256,"size":5}"#, 5, nil), (#"{"size":10}"#, nil, "size"),
      (#"{"shade":1}"#, nil, "shade"),
    ] as [(String, UInt8?, String?)]) func uses(json: String, size: UInt8?, field: String?) throws
  {
    do throws(WireProblem) {
      let read = try Loose(reading: Array(json.utf8), depth: 2)
      #expect(read.shade == nil && read.size == size && field == nil)
    } catch { #expect(error.field == field) }
  }

  @Test("Its schema has the limits of each field, and what has a name once") func schema() {
    let describer = WireDescriber(Sample())
    #expect(describer.hasSecrets)
    #expect(
      describer.fields.map { "\($0.name) \($0.isNeeded) \($0.schema)" } == [
        ##"agent false {"$ref": "#/definitions/border_agent_id"}"##,
        #"color true {"description": "Of it.", "enum": ["red", "green"]}"#,
        #"count false {"description": "How many.", "type": "integer", "minimum": 2, "maximum": 9}"#,
        ##"inner false {"description": "Others.", "type": "array", "minItems": 1, "items": {"$ref": "#/definitions/inner"}}"##,
        #"is_on false {"description": "Whether.", "type": "boolean"}"#,
        #"key false {"description": "Of the network.", "type": "string", "pattern": "^[0-9a-f]*$"}"#,
        ##"name true {"$ref": "#/definitions/name"}"##, ##"state false {"$ref": "#/definitions/thread_state"}"##,
      ])
    #expect(describer.definitions.map(\.name) == ["border_agent_id", "inner", "name", "thread_state"])
    #expect(
      describer.definitions[1].schema
        == #"{"description": "Within.", "type": "object", "required": ["number"], "properties": {"number": {"description": "Any.", "type": "integer", "minimum": 0}}, "additionalProperties": false, "maxProperties": 2}"#
    )
    #expect(
      WireDescriber.document(Inner(), title: "a/b")
        == #"{"$schema": "http://json-schema.org/draft-07/schema#", "title": "a/b", "type": "object", "required": ["number"], "properties": {"number": {"description": "Any.", "type": "integer", "minimum": 0}}, "additionalProperties": false, "maxProperties": 2}"#
    )
  }
}
