import TestKit
import Testing
import ThreadDataset
import Wire

@testable import ThreadRequests

@Suite struct ThreadRequestTests {
  private let agent = "a1b2c3d4e5f60718"

  private func fields(_ json: String) throws -> RequestFields { try RequestFields(json: Array(json.utf8)) }

  private func failure(_ command: RequestCommand, _ json: String) -> AnswerFailure? {
    do {
      _ = try ThreadRequest(command, fields(json))
      return nil
    } catch { return error as? AnswerFailure }
  }

  @Test("a store has its agent and its dataset, and the transaction is kept") func store() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1)
    let request = try ThreadRequest(
      .storeCredentials,
      fields(
        #"{"border_agent_id":"\#(agent.uppercased())","dataset":"\#(dataset.hex)","transaction":"r-1","new":{"a":[1]}}"#
      ))
    #expect(request.agent?.description == agent)
    #expect(request.dataset == dataset)
    #expect(request.transaction == "r-1")
  }

  @Test("16 bytes whose tail is zero are the 8 bytes") func alias() throws {
    let request = try ThreadRequest(.getCredentials, fields(#"{"border_agent_id":"\#(agent)0000000000000000"}"#))
    #expect(request.agent == BorderAgentID(hex: agent))
  }

  @Test(
    "what a command needs is missed by name",
    arguments: [
      (RequestCommand.storeCredentials, "border_agent_id"), (.deleteCredentials, "border_agent_id"),
      (.getCredentials, "border_agent_id"), (.getNetwork, "ext_pan_id"), (.shareCredentials, "ext_pan_id"),
      (.setPreferred, "ext_pan_id"), (.checkPreferred, "dataset"), (.approveConsent, "id"), (.denyConsent, "id"),
      (.askConsent, "border_agent_id"), (.forgetNetwork, "ext_pan_id"),
    ]) func missing(_ command: RequestCommand, _ field: String)
  {
    let failure = failure(command, "{}")
    #expect(failure?.known == .invalidPayload)
    #expect(failure?.field == field)
  }

  @Test(
    "a command that needs no field takes an empty object",
    arguments: [
      RequestCommand.ping, .listCredentials, .listActiveCredentials, .nearbyNetworks, .isPreferredAvailable,
      .getPreferred, .forgetPreferred, .pendingConsents, .listRouters, .listNetworks, .listAlerts, .testAlerts,
      .confirmAlerts,
    ]) func nothingNeeded(_ command: RequestCommand)
  { #expect(failure(command, "{}") == nil) }

  @Test(
    "what a program calls itself is cut to a plain name, and never a reason to refuse",
    arguments: [
      ("homes", "homes"), ("Home 2.0_b-c+d", "Home 2.0_b-c+d"), ("x) (command line", "x_ _command line"),
      ("a\u{1B}[2J\n\u{202E}b", "a__2J__b"), ("für", "f_r"),
      (String(repeating: "n", count: 41), String(repeating: "n", count: 40)),
    ]) func program(_ given: String, _ shown: String) throws
  {
    var wire = RequestFields()
    wire.program = given
    #expect(try ThreadRequest(.getPreferred, wire).program == shown)
  }

  @Test("what is no name at all is none", arguments: ["", " ", "((", "\u{202E}"]) func noProgram(_ given: String) throws
  {
    var wire = RequestFields()
    wire.program = given
    #expect(try ThreadRequest(.getPreferred, wire).program == nil)
  }

  @Test("a dataset that is refused has its rule, its TLV and its place") func badDataset() throws {
    let sound = try SampleNetwork.home.dataset(at: 1).hex
    let failure = failure(.checkPreferred, #"{"dataset":"\#(sound)0e01"}"#)
    #expect(failure?.ofDataset == .truncated)
    #expect(failure?.field == "dataset")
    #expect(failure?.offset == sound.utf8.count / 2)
  }

  @Test("a pending dataset is not the active one") func pendingDataset() throws {
    let pending = try SampleNetwork.home.dataset(at: 1).hex + "33080000000000020000" + "340400007530"
    #expect(failure(.checkPreferred, #"{"dataset":"\#(pending)"}"#)?.known == .incompleteDataset)
  }

  @Test("to set the preferred network takes a network, its name, an id or a dataset, and one of them")
  func preferredByOneOfBoth() throws {
    let dataset = try SampleNetwork.home.dataset(at: 1).hex
    #expect(failure(.setPreferred, #"{"ext_pan_id":"1111111122222222"}"#) == nil)
    #expect(failure(.setPreferred, #"{"dataset":"\#(dataset)"}"#) == nil)
    #expect(failure(.setPreferred, #"{"network_name":"home"}"#) == nil)
    #expect(failure(.setPreferred, #"{"id":"p-00000001"}"#) == nil)
    #expect(failure(.setPreferred, #"{"network_name":"home","id":"p-00000001"}"#)?.known == .invalidPayload)
    #expect(
      failure(.setPreferred, #"{"ext_pan_id":"1111111122222222","dataset":"\#(dataset)"}"#)?.known == .invalidPayload)
  }

  @Test(
    "what a command does not need may have any value of its type, and what it needs not",
    arguments: [
      (RequestCommand.setPreferred, "ext_pan_id", "ext_pan_id"), (.setPreferred, "dataset", "dataset"),
      (.getCredentials, "border_agent_id", "border_agent_id"), (.denyConsent, "scope", "id"),
      (.getPreferred, "purpose", "purpose"), (.getPreferred, "dataset", nil), (.ping, "ext_pan_id", nil),
      (.getPreferred, "scope", nil),
    ] as [(RequestCommand, String, String?)]) func oddValue(
      _ command: RequestCommand, _ field: String, _ named: String?
    )
  { #expect(failure(command, #"{"\#(field)":"?"}"#)?.field == named) }

  @Test("of two fields of one name the first counts, also where it is null") func duplicates() throws {
    #expect(try fields(#"{"id":"a","id":7}"#).id == "a")
    #expect(try fields(#"{"id":null,"id":"a"}"#).id == nil)
  }

  @Test("a field of another type is named, and what it held is in no words") func wrongType() throws {
    let failure = failure(.getCredentials, #"{"border_agent_id":4711}"#)
    #expect(failure?.field == "border_agent_id")
    #expect(failure?.message.contains("4711") == false)
  }

  @Test(
    "what is no field over MQTT is ignored, whatever it holds",
    arguments: ["v", "command", "home", "program", "as_administrator", "administrator", "new"],
    [#""1""#, "5", "true", "null", "[]", "{}"]) func otherFields(_ name: String, _ value: String) throws
  {
    let fields = try fields(#"{"transaction":"r-1","\#(name)":\#(value)}"#)
    var expected = RequestFields()
    expected.transaction = "r-1"
    #expect(fields == expected)
  }

  @Test("what is no JSON object is an invalid payload", arguments: ["", "[]", "{", "null", "\"a\""]) func noObject(
    _ text: String
  ) { #expect(failure(.ping, text)?.known == .invalidPayload) }

  @Test("the transaction is found beside a field that cannot be read") func transactionBesideFlaw() {
    let json = #"{"transaction":"r-2","dataset":7}"#
    #expect(RequestFields.transaction(of: Array(json.utf8)) == "r-2")
    #expect(RequestFields.transaction(of: Array("{".utf8)) == nil)
  }

  @Test("a transaction has a limit") func longTransaction() {
    let long = String(repeating: "x", count: ThreadRequest.transactionBytes + 1)
    #expect(failure(.ping, #"{"transaction":"\#(long)"}"#)?.field == "transaction")
    #expect(RequestFields.transaction(of: Array(#"{"transaction":"\#(long)"}"#.utf8)) == nil)
  }

  @Test("a request comes back from its own fields") func roundTrip() throws {
    var request = ThreadRequest(.storeCredentials)
    request.transaction = "r-3"
    request.agent = BorderAgentID(hex: agent)
    request.dataset = try SampleNetwork.home.dataset(at: 1)
    let fields = try RequestFields(json: request.fields(on: .mqtt).json())
    #expect(try ThreadRequest(.storeCredentials, fields) == request)
    request = ThreadRequest(.setPreferred)
    request.home = "cabin"
    request.network = ExtendedPANID(number: 7)
    let onSocket = try RequestFields(json: request.fields(on: .socket).json(), on: .socket)
    #expect(try ThreadRequest(.setPreferred, onSocket) == request)
  }

  @Test("on each wire the fields are in the order of their bytes, each once, and its own") func order() {
    var all: [Set<String>] = []
    for wire in [RequestFields.Wire.mqtt, .socket] {
      let names = WireDescriber(RequestFields(on: wire)).fields.map(\.name)
      #expect(names == Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      all.append(Set(names))
    }
    #expect(all[0].subtracting(all[1]) == ["purpose", "sealed", "token"])
    #expect(all[1].subtracting(all[0]) == ["administrator", "home", "program"])
  }

  @Test("no description shows a dataset") func secrecy() throws {
    var request = ThreadRequest(.storeCredentials)
    request.dataset = try SampleNetwork.home.dataset(at: 1)
    var dumped = ""
    dump(request, to: &dumped)
    let fields = request.fields(on: .mqtt)
    dump(fields, to: &dumped)
    let shown = "\(request)\(fields)\(String(reflecting: request))\(dumped)"
    #expect(!shown.contains(SampleNetwork.home.networkKey))
  }
}
