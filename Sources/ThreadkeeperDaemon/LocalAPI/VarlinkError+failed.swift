// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import LocalAPI
import SQLiteDatabase

/// `io.threadkeeper.Failed`: why the daemon did not do what it was asked for. See docs/reference/local-api.md.
extension VarlinkError {
  private static let failed = "\(VarlinkInterface.threadkeeper.name).Failed"
  package static let tooManyConnections = VarlinkError(
    "\(VarlinkInterface.threadkeeper.name).TooManyConnections")

  /// A parameter has a value that it cannot have.
  package static let invalidCode = "invalid_payload"
  /// Whoever asks may not have it; of a login: the broker refuses it.
  package static let refusedCode = "refused"
  /// The daemon ends before it has done what it was asked for.
  package static let endingCode = "ending"
  /// The store cannot do it.
  static let storeCode = "store"

  /// Of a failure.
  package var code: String? { name == Self.failed ? parameters["code"]?.string : nil }

  /// - Parameter code: nil is that of the exit status.
  init(_ failure: CommandFailure, code: String? = nil) {
    var parameters: [String: Value] = [
      "code": .string(code ?? failure.code ?? failure.status.code),
      "message": .string(failure.message),
      "exit": .int(Int(failure.status.rawValue)),
    ]
    parameters["help"] = failure.remedy.map { .string($0) }
    self.init(Self.failed, parameters)
  }

  /// Whatever a handler throws.
  init(failing error: any Error) {
    switch error {
    case let failure as CommandFailure: self.init(failure)
    case let error as KeychainError: self.init(CommandFailure(error))
    case let error as SQLiteError:
      self.init(CommandFailure(.inputOutput, "the store failed: \(error.message)"))
    case let error as SocketError where error.reason == .tooLarge:
      self.init(
        CommandFailure(
          .inputOutput, "the answer is larger than a message of the running daemon may be",
          remedy: "ask for less, where the command has a limit"), code: "too_large")
    case is CancellationError:
      self.init(CommandFailure(.temporary, "the daemon is ending"))
    default: self.init(CommandFailure(.software, "an unexpected failure: \(type(of: error))"))
    }
  }

  /// What a command ends with that the daemon has answered so.
  package var commandFailure: CommandFailure {
    switch name {
    case Self.failed:
      guard let message = parameters["message"]?.string else { return Self.otherVersion }
      let status = parameters["exit"]?.int.flatMap { ExitStatus(rawValue: Int32(clamping: $0)) }
      return CommandFailure(status ?? .software, message, remedy: parameters["help"]?.string)
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

extension ExitStatus {
  /// The code of `io.threadkeeper.Failed` that goes with it.
  fileprivate var code: String {
    switch self {
    case .usage: VarlinkError.invalidCode
    case .noInput: "not_found"
    case .notPermitted: VarlinkError.refusedCode
    case .unavailable: "unavailable"
    case .configuration: "conflict"
    case .temporary: VarlinkError.endingCode
    case .software: "internal"
    case .badInput, .system, .cannotCreate, .inputOutput: VarlinkError.storeCode
    }
  }
}
