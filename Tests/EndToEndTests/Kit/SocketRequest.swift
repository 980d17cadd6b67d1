// SPDX-License-Identifier: Apache-2.0

import LocalAPI
import Testing
import ThreadRequests

/// A request over a daemon's socket, as a program makes it.
enum SocketRequest {
  /// - Parameters:
  ///   - command: as over MQTT: `credentials/list`.
  ///   - fields: sent as they are.
  static func ask(
    _ command: String, _ fields: [String: JSONValue] = [:], at path: String,
    within limit: Duration = .seconds(240)
  ) async throws -> ThreadAnswer {
    let method = try #require(RequestCommand(rawValue: command).flatMap(RequestMethods.method))
    let raw = VarlinkMethod<[String: JSONValue], AnswerData>(
      method.interface, method.name, for: .team)
    let client = try #require(try await VarlinkClient.connect(to: path, within: limit))
    do {
      return ThreadAnswer(try await client.call(raw, fields, within: limit))
    } catch let error as VarlinkError {
      return ThreadAnswer(try #require(AnswerFailure(error), "\(error)"))
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral
{
  package init(stringLiteral text: String) { self = .text(text) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
}
