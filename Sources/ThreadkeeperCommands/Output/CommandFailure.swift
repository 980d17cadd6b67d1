// SPDX-License-Identifier: Apache-2.0

/// Why a command did not do what it was asked for, and what to do about it.
package struct CommandFailure: Error, Sendable, Equatable {
  /// The exit status of the process.
  package let status: ExitStatus
  /// What went wrong, without a full stop and without any secret.
  package let message: String
  /// What the person can do.
  package let remedy: String?

  package init(_ status: ExitStatus, _ message: String, remedy: String? = nil) {
    self.status = status
    self.message = message
    self.remedy = remedy
  }

  /// `error: …`, and on a line of its own `help: …`.
  package func text(style: TerminalStyle) -> String {
    var text = "\(style.red("error:")) \(message.printable)\n"
    if let remedy { text += "\(style.bold("help:")) \(remedy.printable)\n" }
    return text
  }

  /// Prints it on standard error.
  package func print() {
    // Where standard error is closed, nobody is left to be told.
    try? StandardStream.error.write(text(style: TerminalStyle(of: .error)))
  }
}
