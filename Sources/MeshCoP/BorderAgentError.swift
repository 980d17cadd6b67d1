import Glibc

/// Why a border router's datasets were not read. It has no secret, and nothing that the router sent but numbers.
package enum BorderAgentError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What the client waits for.
  package enum Step: String, Sendable, CaseIterable { case hello, keyExchange, finished, activeDataset, pendingDataset }

  /// Nothing came for 8 s. Busy routers, and those that allow no session, are silent.
  case noAnswer(Step)
  /// The conversation has taken 20 s.
  case tooSlow(Step)
  /// The router has another PSKc or code: the fatal alert bad_record_mac (RFC 5246, section 7.2.2) after the client's
  /// last flight. It is not authenticated: whoever can send from the router's address can forge it.
  case refused
  /// The router does not follow the protocol.
  /// - part: the message.
  /// - flaw: a clause.
  case protocolError(part: String, flaw: String)
  /// The router ended the connection, by the alert with this number; 0 is close_notify.
  case closed(alert: UInt8)
  /// With this `errno`.
  case unreachable(Int32)
  /// It was stopped from here.
  case stopped
  /// The secret is 0, or libcrypto failed.
  case cannotStart(KeyExchangeError)

  package var description: String {
    switch self {
    case .noAnswer(let step): "The border router does not answer: \(step.rawValue) has not come within 8 s."
    case .tooSlow(let step): "The border router is too slow: \(step.rawValue) has not come within 20 s."
    case .refused: "The border router does not have these credentials, or the code is wrong."
    case .protocolError(let part, let flaw): "The border router's \(part) is invalid: \(flaw)."
    case .closed(0): "The border router closed the connection."
    case .closed(let alert): "The border router ended the connection with the alert \(alert)."
    case .unreachable(let code): "The border router can't be reached: \(String(cString: strerror(code)))."
    case .stopped: "The border router was not read, because the reading was stopped."
    case .cannotStart(let error): "No connection to the border router can be made: \(error)."
    }
  }
}

extension BorderAgentError {
  static func invalid(_ part: String, _ flaw: KeyExchangeError) -> Self {
    switch flaw {
    case .libraryFailed, .outOfOrder, .unusableSecret: .cannotStart(flaw)
    default: .protocolError(part: part, flaw: flaw.description)
    }
  }
}
