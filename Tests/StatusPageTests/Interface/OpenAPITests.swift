import Foundation
import TestKit
import Testing

@testable import StatusPage

@Suite("The OpenAPI document of the HTTP interface") struct OpenAPITests {
  @Test("It says what the routes declare") func agreement() throws {
    try expectFile("docs/reference/openapi.yaml", has: OpenAPIDocument().text)
  }

  @Test("It has each field of an answer, and no other", arguments: OpenAPIDocument.schemas.map(\.name)) func fields(
    _ name: String
  ) throws {
    var outcome = PageOutcome("Done.", code: "1", for: 60, confirmation: .recoveryCode)
    outcome.seconds = 60
    let choice = PageRefusal.Choice("All the same", anyway: true, router: "a")
    let broken = Readiness([.init("broker", ok: false, reason: "no route")])
    let sample: any Encodable =
      switch name {
      case "Liveness": Liveness()
      case "Readiness": broken
      case "Check": broken.checks[0]
      case "Outcome": outcome
      case "Confirmation": PageOutcome.Confirmation.recoveryCode
      case "Refusal": PageRoutes.Refusal(message: "No.", remedy: "Wait.", choices: [choice])
      case "Choice": choice
      default: ""
      }
    let schema = try #require(OpenAPIDocument.schemas.first { $0.name == name })
    let json = try JSONSerialization.jsonObject(with: Data(PageReply.json(.ok, sample).body)) as? [String: Any]
    #expect(json?.keys.sorted() == schema.fields.map(\.name).sorted())
    #expect(Set(schema.needs).isSubset(of: schema.fields.map(\.name)))
  }

  @Test("A change takes the fields that its route names, and not without one that it needs") func needed() throws {
    for (path, route) in PageChange.routes {
      func body(without missing: PageChange.Field? = nil) throws -> [UInt8] {
        let fields = (route.needs + route.mayHave).filter { $0 != missing }
        let members = fields.map { ($0.rawValue, $0.isFlag ? ($0 != .accepted) as Any : "a" as Any) }
        return Array(try JSONSerialization.data(withJSONObject: Dictionary(uniqueKeysWithValues: members)))
      }
      let whole = try PageChange(path: path, body: body())
      #expect(whole != nil, "\(path)")
      for field in route.needs {
        let part = try PageChange(path: path, body: body(without: field))
        #expect(part == nil, "\(path) without \(field)")
      }
      for field in route.mayHave {
        let other = try PageChange(path: path, body: body(without: field))
        #expect(other != nil && other != whole, "\(path) without \(field)")
      }
      for wrong in ["", "[]", "null", #"{"home":1}"#, #"{"always":"yes"}"#] {
        #expect(PageChange(path: path, body: Array(wrong.utf8)) == nil, "\(path): \(wrong)")
      }
      let flag = route.needs.first { $0.isFlag }
      #expect(flag == nil, "\(path)")
    }
    #expect(PageChange(path: "/networks", body: Array("{}".utf8)) == nil)
  }
}
