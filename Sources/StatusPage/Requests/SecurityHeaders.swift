// SPDX-License-Identifier: Apache-2.0

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
