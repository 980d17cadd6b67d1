// SPDX-License-Identifier: Apache-2.0

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
