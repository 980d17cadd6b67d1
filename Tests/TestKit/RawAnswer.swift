// SPDX-License-Identifier: Apache-2.0

/// An answer as it came: HTTP/1.1 with a length, and no chunks.
package struct RawAnswer {
  package struct Invalid: Error {
    package let text: String
  }

  package let status: Int
  /// By lowercase name.
  package let headers: [String: String]
  package let body: String

  package init(_ text: String) throws {
    guard let end = text.firstRange(of: "\r\n\r\n") else { throw Invalid(text: text) }
    let lines = text[..<end.lowerBound].split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { throw Invalid(text: text) }
    self.status = status
    headers = Dictionary(
      lines.dropFirst().map { line in
        let name = line.prefix { $0 != ":" }
        return (name.lowercased(), String(line[name.endIndex...].dropFirst(2)))
      }, uniquingKeysWith: { $0 + ", " + $1 })
    body = String(text[end.upperBound...])
  }

  /// The answer to a request of this machine, with headers as `Authorization: Bearer x`.
  package static func get(
    _ path: String, port: Int, _ headers: [String] = [], host: String = "localhost"
  ) async throws -> RawAnswer {
    let lines = ["GET \(path) HTTP/1.1", "Host: \(host)"] + headers
    let connection = try await RawConnection(port: port)
    try await connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    return try RawAnswer(await connection.readToEnd())
  }
}
