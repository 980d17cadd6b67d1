// SPDX-License-Identifier: Apache-2.0

/// Whether the daemon does its work, and if not, why.
package struct Readiness: Sendable, Equatable, Encodable {
  /// Something that has to work.
  package struct Check: Sendable, Equatable, Encodable {
    /// `broker`, `intake`, `store`.
    package var name: String
    package var ok: Bool
    /// What is wrong and what to do; nil where nothing is, or where it is not for whoever asks.
    package var reason: String?

    package init(_ name: String, ok: Bool, reason: String? = nil) {
      self.name = name
      self.ok = ok
      self.reason = ok ? nil : reason
    }
  }

  package var ready: Bool { checks.allSatisfy(\.ok) }
  package var checks: [Check]

  package init(_ checks: [Check]) { self.checks = checks }

  /// For somebody who may not look.
  var withoutReasons: Readiness { Readiness(checks.map { Check($0.name, ok: $0.ok) }) }

  private enum CodingKeys: String, CodingKey { case ready, checks }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(ready, forKey: .ready)
    try container.encode(checks, forKey: .checks)
  }
}

/// That the daemon answers.
struct Liveness: Encodable {
  var status = "ok"
}
