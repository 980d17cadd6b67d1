// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

extension VarlinkError {
  /// `io.threadkeeper.Failed` of a request. See docs/reference/local-api.md.
  package init(_ failure: AnswerFailure) {
    var parameters: [String: Value] = [
      "code": .string(failure.code), "message": .string(failure.message),
    ]
    parameters["help"] = failure.help.map { .string($0) }
    parameters["exit"] = failure.exit.map { .int(Int($0)) }
    parameters["field"] = failure.field.map { .string($0) }
    parameters["tlv"] = failure.tlv.map { .string($0) }
    parameters["offset"] = failure.offset.map { .int($0) }
    self.init("io.threadkeeper.Failed", parameters)
  }
}

extension AnswerFailure {
  /// What a daemon answers instead of an answer; nil when that is none of threadkeeper's.
  package init?(_ error: VarlinkError) {
    switch error.name {
    case "io.threadkeeper.Failed":
      guard let code = error.parameters["code"]?.string,
        let message = error.parameters["message"]?.string
      else { return nil }
      self.init(.store, message)
      self.code = code
      help = error.parameters["help"]?.string
      exit = error.parameters["exit"]?.int.flatMap { Int32(exactly: $0) }
      field = error.parameters["field"]?.string
      tlv = error.parameters["tlv"]?.string
      offset = error.parameters["offset"]?.int
    case "io.threadkeeper.TooManyConnections":
      self.init(
        .rateLimited,
        "too many connections of this user, or of all users, are open; wait for one of them")
    default: return nil
    }
  }
}
