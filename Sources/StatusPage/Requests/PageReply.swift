// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a request is answered with.
package struct PageReply: Sendable {
  package enum Status: Int, Sendable {
    case ok = 200
    case seeOther = 303
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case notAllowed = 405
    case conflict = 409
    case lengthRequired = 411
    case tooLarge = 413
    case misdirected = 421
    case headersTooLarge = 431
    case failed = 500
    case unavailable = 503
  }

  package var status: Status
  /// Beside those that every reply has.
  package var headers: [(name: String, value: String)] = []
  package var body: [UInt8] = []
  /// Whoever follows events instead of a body.
  package var viewer: Viewer?

  package init(_ status: Status, type: String? = nil, _ body: [UInt8] = []) {
    self.status = status
    self.body = body
    if let type { headers.append(("Content-Type", type)) }
  }

  /// A line for a person.
  package static func text(_ status: Status, _ text: String) -> PageReply {
    PageReply(status, type: "text/plain; charset=utf-8", Array("\(text)\n".utf8))
  }

  /// A value of ours; where it has no JSON, that is our mistake.
  package static func json(_ status: Status, _ value: some Encodable) -> PageReply {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else {
      return .text(.failed, "an unexpected failure")
    }
    return PageReply(status, type: "application/json", Array(data) + [UInt8(ascii: "\n")])
  }
}

/// What every reply says to a browser: nothing is loaded, framed, guessed, kept or passed on.
enum SecurityHeaders {
  static let all: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
  ]

  /// A reply may say something else under the same name.
  static func beside(_ own: [(name: String, value: String)]) -> [(name: String, value: String)] {
    own + all.filter { header in !own.contains { $0.name == header.name } }
  }
}
