// SPDX-License-Identifier: Apache-2.0

import BorderRouterAgent
import Testing

@Suite("Credential sharing")
struct CredentialSharingTests {
  private func activate(
    _ state: Int, _ key: Int = 200, _ body: String = ""
  ) throws -> (outcome: CredentialSharing.Outcome, requests: [String]) {
    var requests: [String] = []
    let outcome = try CredentialSharing.activate { request throws(HTTPFailure) in
      requests.append("\(request) \(String(decoding: request.body, as: UTF8.self))")
      return request.method == .put
        ? HTTPAnswer(status: state) : HTTPAnswer(status: key, body: Array(body.utf8))
    }
    return (outcome, requests)
  }

  @Test("It is enabled, a code is asked for, and the code is returned")
  func code() throws {
    let (outcome, requests) = try activate(200, 200, #"{"tap":"123456789","port":49152}"#)
    #expect(outcome == .code("123456789"))
    #expect(
      requests == [
        "PUT /node/ba-epskc/state \"enable\"", "POST /node/ba-epskc/key {\"lifetime\":300000}",
      ])
    #expect(try activate(200, 200, #"{"Tap":"123456789"}"#).outcome == .code("123456789"))
  }

  @Test("Without it, with a code in use, and with another answer there is none, and why")
  func none() throws {
    func words(_ state: Int, _ key: Int = 200, _ body: String = "") throws -> String {
      if case .none(let words) = try activate(state, key, body).outcome { words } else { "" }
    }
    #expect(try words(404).contains("does not have credential sharing (404)"))
    #expect(try words(200, 409).contains("in use already (409)"))
    #expect(try words(500).contains("500"))
    for body in [
      "", "{}", "[]", #"{"tap":123456789}"#, #"{"tap":"12345678"}"#, #"{"tap":"12345678x"}"#,
    ] {
      #expect(try words(200, 200, body) == "its answer has no code of 9 digits")
    }
  }

  @Test("An agent that does not answer is an error of the request")
  func silent() {
    #expect(throws: HTTPFailure.timeout) {
      _ = try CredentialSharing.activate { _ throws(HTTPFailure) in throw .timeout }
    }
  }
}
