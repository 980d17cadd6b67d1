import TestKit
import Testing
import ThreadDataset
import ThreadRequests

@testable import LocalAPI

@Suite("Requests over the local API") struct RequestMethodsTests {
  @Test(
    "Every request but ping and those about alerts has a method of its own, and every one that is described a request")
  func table() {
    let methods = RequestCommand.allCases.compactMap { RequestMethods.method($0)?.fullName }
    #expect(methods.count == RequestCommand.allCases.count - 3)
    let described = RequestMethods.interfaces.flatMap { interface in interface.methods.map { "\(interface.name).\($0)" }
    }
    #expect(methods.sorted() == described.sorted())
    let grouped = RequestMethods.interfaces.flatMap { RequestMethods.methods(of: $0) }
    #expect(grouped.map(\.method.fullName).sorted() == described.sorted())
  }

  @Test(
    "A parameter of another type is named, and what is none of the socket's is ignored",
    arguments: [
      (#"{"home":7}"#, "home"), (#"{"id":"a","administrator":"yes"}"#, "administrator"),
      (#"{"home":[],"dataset":1}"#, "dataset"), (#"{"id":"\ud800"}"#, ""),
      (#"{"token":7,"purpose":{},"sealed":1}"#, nil),
    ] as [(String, String?)]) func wrong(_ parameters: String, _ field: String?) throws
  {
    let message = #"{"method":"a.B","parameters":\#(parameters)}"#
    let call = try VarlinkCall(reading: Array(message.utf8))
    do throws(VarlinkError) {
      _ = try call.request()
      #expect(field == nil)
    } catch { #expect(error == field.map { VarlinkError.invalidParameter($0) }) }
  }

  @Test("Parameters come as they were sent, in the names of the interface, and show no dataset") func parameters()
    throws
  {
    var request = ThreadRequest(.setPreferred)
    request.home = "cabin"
    request.id = "p-12345678"
    request.networkName = "home"
    request.transaction = "t"
    request.network = ExtendedPANID(number: 0xB2)
    request.dataset = try SampleNetwork.home.dataset(at: 1)
    var fields = request.fields(on: .socket)
    fields.agent = BorderAgentID(high: 0xA1, low: 0)
    fields.asAdministrator = true
    let message = VarlinkCall.encode("a.B", fields)
    #expect(try VarlinkCall(reading: message).request() == fields)
    let text = String(decoding: message, as: UTF8.self)
    for name in ["border_agent_id", "ext_pan_id", "network_name", "administrator"] {
      #expect(text.contains("\"\(name)\""))
    }
    #expect(!"\(fields)\(String(reflecting: fields))".contains("0e08"))
  }

  @Test("An answer comes as it was sent, in the names of the interface") func answers() throws {
    var data = AnswerData()
    var former = FormerNetworkRecord()
    (former.id, former.extPanId, former.channel) = ("p-1", "b2", 11)
    (data.forgotten, data.sharedBy) = ([former], ["ha"])
    data.routers = [.object(["border_agent_id": .text("a1"), "rloc": .null])]
    let sent = VarlinkReply(parameters: data, continues: false).encoded()
    #expect(String(decoding: sent, as: UTF8.self).contains("\"ext_pan_id\":\"b2\""))
    #expect(String(decoding: sent, as: UTF8.self).contains("\"shared_by\":[\"ha\"]"))
    #expect(try VarlinkReply<AnswerData>(reading: sent).parameters == data)
  }

  @Test("A failure comes with all that it says") func failures() throws {
    var failure = AnswerFailure(.badDataset, field: "dataset", offset: 7, "no", help: "yes")
    (failure.tlv, failure.exit) = ("Channel", 65)
    let sent = VarlinkError(failure).encoded()
    let received = #expect(throws: VarlinkError.self) { try VarlinkReply<VarlinkNothing>(reading: sent) }
    #expect(received.flatMap { AnswerFailure($0) } == failure)
    let full = AnswerFailure(VarlinkError("io.threadkeeper.TooManyConnections"))
    #expect(full?.known == .rateLimited)
    for other in [VarlinkError.methodNotFound("List"), VarlinkError("io.threadkeeper.Failed")] {
      #expect(AnswerFailure(other) == nil)
    }
  }
}
