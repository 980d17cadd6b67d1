// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import ThreadDataset
import ThreadkeeperSupport

/// Thread 1.4 credential sharing: a code of 9 digits with which a phone or another ecosystem gets this network's
/// credentials from the border router, once and for a few minutes.
///
/// ```
/// PUT  /node/ba-epskc/state  "enable"              200; 404: the router does not have it
/// POST /node/ba-epskc/key    {"lifetime":300000}   200 {"tap":"123456789","port":49152}; 409: a code is in use
/// ```
/// The code is for the eyes of whoever sits there: it is neither logged nor published.
package enum CredentialSharing {
  /// Milliseconds; OpenThread takes at most ten minutes.
  package static let lifetime = 300_000

  package enum Outcome: Equatable, Sendable {
    /// 9 digits.
    case code(String)
    /// Why there is none.
    case none(String)
  }

  /// Looks at a router, and asks it for a code where it is on a network.
  ///
  /// - Returns: with the router's id, where it reports that.
  package static func code(from client: OTBRClient) async throws -> (BorderAgentID?, Outcome) {
    try await SystemThread.result {
      var reader = RouterReader()
      switch try client.look(&reader) {
      case .silent(let silence): return (nil, .none(silence.description))
      case .report(let report) where !report.state.isAttached:
        return (report.agent, .none("it is \(report.state.word), on no network"))
      case .report(let report):
        do throws(HTTPFailure) {
          return (
            report.agent,
            try activate { request throws(HTTPFailure) in try client.perform(request) }
          )
        } catch {
          return (report.agent, .none(RouterSilence(error).description))
        }
      }
    }
  }

  package static func activate(
    _ ask: (HTTPRequest) throws(HTTPFailure) -> HTTPAnswer
  ) throws(HTTPFailure) -> Outcome {
    let state = try ask(
      HTTPRequest(method: .put, path: "/node/ba-epskc/state", body: Array("\"enable\"".utf8)))
    guard state.status == 200 else { return .none(message(state.status)) }
    let answer = try ask(
      HTTPRequest(
        method: .post, path: "/node/ba-epskc/key", body: Array("{\"lifetime\":\(lifetime)}".utf8)))
    guard answer.status == 200 || answer.status == 201 else { return .none(message(answer.status)) }
    guard let code = code(in: answer.body) else {
      return .none("its answer has no code of 9 digits")
    }
    return .code(code)
  }

  static func code(in body: [UInt8]) -> String? {
    var code: String?
    let isObject = try? UntrustedJSON.readMembers(of: body, depth: OTBRNode.nesting) { member in
      if member.name.text?.lowercased() == "tap" { code = RESTValue(member.value).text }
    }
    guard isObject == true, let code, code.utf8.count == 9,
      code.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 })
    else { return nil }
    return code
  }

  private static func message(_ status: Int) -> String {
    switch status {
    case 404, 405, 501: "this version of its agent does not have credential sharing (\(status))"
    case 409:
      "a code is in use already (409), or its Thread is stopped; wait until the code has ended"
    default: "it answers \(status)"
    }
  }
}
