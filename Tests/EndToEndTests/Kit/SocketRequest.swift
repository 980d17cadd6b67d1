import Foundation
import LocalAPI
import Testing
import ThreadRequests

/// A request over a daemon's socket, as a program makes it.
enum SocketRequest {
  /// - Parameters:
  ///   - command: as over MQTT: `credentials/list`.
  ///   - fields: sent as they are.
  static func ask(
    _ command: String, _ fields: [String: JSONValue] = [:], at path: String, within limit: Duration = .seconds(240)
  ) async throws -> ThreadAnswer {
    let method = try #require(RequestCommand(rawValue: command).flatMap(RequestMethods.method))
    let raw = VarlinkMethod<[String: JSONValue], AnswerData>(method.interface, method.name, for: .team)
    let client = try #require(try await VarlinkClient.connect(to: path, within: limit))
    do { return ThreadAnswer(try await client.call(raw, fields, within: limit)) } catch let error as VarlinkError {
      guard let failure = AnswerFailure(error) else { throw error }
      return ThreadAnswer(failure)
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
  package init(stringLiteral text: String) { self = .text(text) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
}

/// Calls of a Unix socket that nobody has accepted yet: the kernel has them under the socket's name, without
/// an inode.
enum WaitingCalls {
  static func count(at path: String) throws -> Int {
    let table = try #require(FileHandle(forReadingAtPath: "/proc/net/unix"))
    defer { try? table.close() }
    var bytes = Data()
    // The kernel hands out a page at a time. What reads a whole file at once takes the first for all.
    while let part = try table.read(upToCount: 65_536), !part.isEmpty { bytes += part }
    let name = path.replacing("//", with: "/")
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").count {
      let columns = $0.split(separator: " ")
      return columns.count == 8 && columns[6] == "0" && columns[7] == name
    }
  }
}
