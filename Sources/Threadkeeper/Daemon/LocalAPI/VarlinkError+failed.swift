import KeychainCore
import LocalAPI
import SQLiteDatabase
import ThreadRequests

/// `io.threadkeeper.Failed`: why the daemon did not do what it was asked for. See docs/reference/local-api.md.
extension VarlinkError {
  /// Of a failure.
  var code: String? { name == Self.failed ? AnswerFailure(self)?.code : nil }

  /// Whatever a handler throws.
  init(failing error: any Error) {
    let failure = CommandFailure(failing: error)
    self.init(
      AnswerFailure(
        code: failure.code?.rawValue ?? failure.status.code, failure.message, help: failure.remedy,
        exit: failure.status.rawValue))
  }

  /// What a command ends with that the daemon has answered so.
  var commandFailure: CommandFailure {
    switch name {
    case Self.failed: return AnswerFailure(self)?.commandFailure ?? Self.otherVersion
    case Self.tooManyConnections.name:
      return CommandFailure(
        .temporary, "the running daemon has too many connections or streams open",
        remedy: "try again, or end a command that follows something")
    case Self.permissionDenied.name:
      return CommandFailure(
        .notPermitted, "the running daemon does not take this from this user",
        remedy: "run it as root: `\(SameCommand.by())`")
    default: return Self.otherVersion
    }
  }

  private static let otherVersion = CommandFailure(
    .software, "the running daemon does not know this request, or gives another answer to it",
    remedy: "is it of another version? Start it again")
}

extension CommandFailure {
  /// Whatever a handler throws.
  init(failing error: any Error) {
    self =
      switch error {
      case let failure as CommandFailure: failure
      case let error as KeychainError: .init(error)
      case let error as SQLiteError: .init(.inputOutput, "the store failed: \(error.message)")
      case let error as SocketError where error.reason == .tooLarge:
        .init(
          .inputOutput, "the answer is larger than a message of the running daemon may be",
          remedy: "ask for less, where the command has a limit", code: .tooLarge)
      case is CancellationError: .init(.temporary, "the daemon is ending")
      default: .init(.software, "an unexpected failure: \(type(of: error))")
      }
  }
}

extension ExitStatus {
  /// The code of `io.threadkeeper.Failed` that goes with it.
  fileprivate var code: String {
    switch self {
    case .usage: "invalid_payload"
    case .noInput: "not_found"
    case .notPermitted: "refused"
    case .unavailable: "unavailable"
    case .configuration: "conflict"
    case .temporary: "ending"
    case .software: "internal"
    case .badInput, .system, .cannotCreate, .inputOutput: "store"
    }
  }
}

extension VarlinkInterface {
  /// The text of docs/interfaces/io.threadkeeper.varlink; a test compares the two.
  static let threadkeeper = VarlinkInterface(
    """
    # threadkeeper: what all of its interfaces have in common.
    interface io.threadkeeper

    # The call has failed. `code` is for programs: `invalid_payload` (a parameter has a value that it cannot have),
    # `refused` (this is not allowed, or a secret is wrong), `not_found` (there is nothing of that name), `conflict`
    # (the daemon has other settings), `unavailable` (something that the daemon needs does not answer), `ending`
    # (not now, as the daemon is ending or busy: try again), `store` (the store cannot do it), `too_large` (the
    # reply does not fit into a message), `internal`. Methods may have codes of their own. `message` is one sentence
    # for people, `help` is what they can do. `exit` is the exit status that a command ends with, one of sysexits.h.
    # Of a request: `field` is the parameter, `tlv` and `offset` the place in a dataset.
    error Failed (
      code: string,
      message: string,
      help: ?string,
      exit: int,
      field: ?string,
      tlv: ?string,
      offset: ?int
    )

    # This user, or all users together, have too many connections or streams open.
    error TooManyConnections ()

    """)
}
