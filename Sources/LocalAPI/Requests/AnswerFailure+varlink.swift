import ThreadRequests

extension VarlinkError {
  package static let failed = "io.threadkeeper.Failed"
  package static let tooManyConnections = VarlinkError("io.threadkeeper.TooManyConnections")

  /// `io.threadkeeper.Failed` of a request. See docs/reference/local-api.md.
  package init(_ failure: AnswerFailure) {
    var parameters: [String: Value] = ["code": .string(failure.code), "message": .string(failure.message)]
    parameters["help"] = failure.help.map { .string($0) }
    parameters["exit"] = failure.exit.map { .int(Int($0)) }
    parameters["field"] = failure.field.map { .string($0) }
    parameters["tlv"] = failure.tlv.map { .string($0) }
    parameters["offset"] = failure.offset.map { .int($0) }
    self.init(Self.failed, parameters)
  }
}

extension AnswerFailure {
  /// What a daemon answers instead of an answer; nil when that is none of threadkeeper's.
  package init?(_ error: VarlinkError) {
    switch error.name {
    case VarlinkError.failed:
      guard let code = error.parameters["code"]?.string, let message = error.parameters["message"]?.string else {
        return nil
      }
      self.init(
        code: code, field: error.parameters["field"]?.string, offset: error.parameters["offset"]?.int, message,
        help: error.parameters["help"]?.string, exit: error.parameters["exit"]?.int.flatMap { Int32(exactly: $0) })
      tlv = error.parameters["tlv"]?.string
    case VarlinkError.tooManyConnections.name:
      self.init(.rateLimited, "too many connections of this user, or of all users, are open; wait for one of them")
    default: return nil
    }
  }
}
