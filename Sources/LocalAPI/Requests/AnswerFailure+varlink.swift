import ThreadRequests
import Wire

extension VarlinkError {
  package static let failed = "io.threadkeeper.Failed"
  package static let tooManyConnections = VarlinkError("io.threadkeeper.TooManyConnections")

  /// `io.threadkeeper.Failed` of a request. See docs/reference/local-api.md.
  package init(_ failure: AnswerFailure) { self.init(Self.failed, WireBytes(of: failure)) }
}

extension AnswerFailure {
  /// What a daemon answers instead of an answer; nil when that is none of threadkeeper's.
  package init?(_ error: VarlinkError) {
    switch error.name {
    case VarlinkError.failed:
      guard let failure = try? AnswerFailure(reading: error.parameters.bytes) else { return nil }
      self = failure
    case VarlinkError.tooManyConnections.name:
      self.init(.rateLimited, "too many connections of this user, or of all users, are open; wait for one of them")
    default: return nil
    }
  }
}
