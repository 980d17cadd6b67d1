import Synchronization

/// A short code that a person types in place of the link with the token. It is in memory only.
///
/// | state | input | answer | next state |
/// |---|---|---|---|
/// | none | eight digits | `none` | none |
/// | waits | its digits, in time | `right` | none |
/// | waits | other digits, in time | `wrong` | waits; none after the fifth |
/// | waits | eight digits, too late | `none` | none |
/// | any | `make` | | waits, for another code |
/// | any | not eight digits | `unfinished` | the same |
///
/// Wrong ones are counted for all who try together: a proxy can name any address.
final class PageCode: Sendable {
  static let minutes = 10
  static let length = 8
  static let mostWrong = 5

  enum Answer: Equatable {
    case right
    /// So many more may be tried.
    case wrong(left: Int)
    /// No code is valid now.
    case none
    case unfinished
  }

  private struct Waiting {
    let digits: [UInt8]
    let end: ContinuousClock.Instant
    var left = PageCode.mostWrong
  }

  private let waiting = Mutex<Waiting?>(nil)
  private let now: @Sendable () -> ContinuousClock.Instant

  init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

  /// - Returns: another code; the former one is not valid any more.
  func make() -> String {
    // The system's generator is one for cryptography.
    let number = String(UInt32.random(in: 0..<100_000_000))
    let code = String(repeating: "0", count: Self.length - number.count) + number
    waiting.withLock { $0 = Waiting(digits: Array(code.utf8), end: now() + .seconds(60 * Self.minutes)) }
    return code
  }

  func forget() { waiting.withLock { $0 = nil } }

  /// - Parameter form: what a browser sends of the form.
  func enter(_ form: [UInt8]) -> Answer {
    let digits = Self.digits(form)
    guard digits.count == Self.length else { return .unfinished }
    return waiting.withLock { waiting in
      guard var tried = waiting, now() < tried.end else {
        waiting = nil
        return .none
      }
      guard !PageAccess.isSame(digits, tried.digits) else {
        waiting = nil
        return .right
      }
      tried.left -= 1
      waiting = tried.left > 0 ? tried : nil
      return .wrong(left: tried.left)
    }
  }

  /// Of the field `code`, whatever else a person types between them.
  private static func digits(_ form: [UInt8]) -> [UInt8] {
    let field = form.split(separator: UInt8(ascii: "&")).first { $0.starts(with: "code=".utf8) }
    var rest = (field ?? []).dropFirst(5)
    var digits: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        rest = rest.dropFirst(2)
      } else if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
        digits.append(byte)
      }
    }
    return digits
  }
}

extension PageRoutes {
  /// Whether a browser without the token is offered the field for a code.
  var takesCodes: Bool { access.token.current != nil && source.takesCodes }

  /// Gives the browser that posts the right code the cookie that the link with the token brings.
  func enterCode(_ request: PageRequest) -> PageReply {
    guard access.isOwn(request, ifAbsent: false) else {
      return .text(.forbidden, "a code is typed on this page itself; a proxy has to pass on the header `Host`")
    }
    switch access.code.enter(request.body) {
    case .right:
      guard let token = access.token.current else { return codeForm() }
      var reply = PageReply(.seeOther)
      reply.headers = [("Location", "./"), ("Set-Cookie", PageAccess.cookie(with: token))]
      return reply
    case .wrong(let left):
      if left == 0 { codeUsedUp() }
      let next = left == 0 ? "Make another one: threadkeeper page code" : "You can try \(left) more."
      return codeForm("That is not the code. \(next)")
    case .none: return codeForm("No code is valid now. Make another one: threadkeeper page code")
    case .unfinished: return codeForm("The code has \(PageCode.length) digits.")
    }
  }

  /// - Parameter problem: what is wrong with the code that was typed.
  func codeForm(_ problem: String? = nil) -> PageReply {
    let nonce = PageDocument.makeNonce()
    var reply = PageReply(
      .unauthorized, type: Self.html, Array(PageDocument.codeForm(nonce: nonce, problem: problem).utf8))
    reply.headers += [
      ("Content-Security-Policy", PageDocument.policy(nonce: nonce, formAction: "self")),
      // With `no-referrer` a browser does not name the origin of a form either.
      ("Referrer-Policy", "same-origin"),
    ]
    return reply
  }
}
