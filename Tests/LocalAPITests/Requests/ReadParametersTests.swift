import TestKit
import Testing
import ThreadRequests

@testable import LocalAPI

@Suite("What parameters of calls are read as") struct ReadParametersTests {
  private static func read(_ command: RequestCommand, _ message: [UInt8]) -> String {
    do {
      let call = try VarlinkCall(reading: message)
      let fields = try call.request()
      return Described.request(try ThreadRequest(command, fields))
        + (fields.asAdministrator.map { " administrator=\($0)" } ?? "")
    } catch let error as AnswerFailure { return Described.refusal(error) } catch let error as VarlinkError {
      return "!" + String(decoding: error.encoded(), as: UTF8.self)
    } catch let error as SocketError { return "!\(error.reason) \(error.message)" } catch { return "!another error" }
  }

  /// Each line has the method, its parameters, ` -> ` and what they are read as.
  @Test("Calls of each request, right and wrong ones") func calls() throws {
    let hex = try SampleNetwork.home.dataset(at: 1).hex
    var text = ""
    for command in RequestCommand.allCases {
      guard let method = RequestMethods.method(command)?.fullName else { continue }
      let template = MessageTemplate(
        command, dataset: hex,
        ["home": #""cabin""#, "transaction": #""t-1""#, "program": #""My \"app\"""#, "administrator": "true"])
      let all = command == .setPreferred ? template.ofFields + template.ofWhole : Array(template.ofFields.prefix(5))
      for parameters in all {
        let start = Array("{\"method\":\"\(method)\",\"parameters\":".utf8)
        let read = Self.read(command, start + parameters + Array("}".utf8))
        text += MessageTemplate.line(Array("\(method) ".utf8) + parameters, [hex: "DATASET"])
        text += " -> \(read.replacing(hex, with: "DATASET"))\n"
      }
      #expect(text.contains(" -> \(command.rawValue)="), "no \(command) is read")
    }
    try Golden.check(text, "parameters.txt")
  }
}
