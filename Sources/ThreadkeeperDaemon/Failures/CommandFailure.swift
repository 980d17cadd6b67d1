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
