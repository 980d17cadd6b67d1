// SPDX-License-Identifier: Apache-2.0

/// Why a command did not do what it was asked for, and what to do about it.
package struct CommandFailure: Error, Sendable, Equatable {
  /// The exit status of the process.
  package let status: ExitStatus
  /// What went wrong, without a full stop and without any secret.
  package let message: String
  /// What the person can do.
  package let remedy: String?
  /// Of `io.threadkeeper.Failed`, where it is another one than that of the status.
  package let code: String?

  package init(
    _ status: ExitStatus, _ message: String, remedy: String? = nil, code: String? = nil
  ) {
    self.status = status
    self.message = message
    self.remedy = remedy
    self.code = code
  }
}

/// How a command ends, in the numbers of sysexits.h, so that scripts can tell failures apart.
package enum ExitStatus: Int32, Sendable {
  /// The command line is wrong.
  case usage = 64
  /// The input is wrong.
  case badInput = 65
  /// The input can't be read.
  case noInput = 66
  /// Something that is needed does not answer.
  case unavailable = 69
  /// A mistake in threadkeeper itself.
  case software = 70
  /// The operating system refused something.
  case system = 71
  /// A file can't be made.
  case cannotCreate = 73
  /// Reading or writing failed.
  case inputOutput = 74
  /// It may go well at another time.
  case temporary = 75
  /// Not allowed.
  case notPermitted = 77
  /// The configuration is wrong.
  case configuration = 78
}
