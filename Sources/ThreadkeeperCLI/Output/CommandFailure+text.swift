// SPDX-License-Identifier: Apache-2.0

import ThreadkeeperDaemon

extension CommandFailure {
  /// `error: …`, and on a line of its own `help: …`.
  ///
  /// - Parameter width: columns of the terminal; nil: the lines are not wrapped.
  package func text(style: TerminalStyle, width: Int? = nil) -> String {
    func line(_ label: String, _ text: String) -> String {
      " " + TextWrap.paragraph(text.printable, indent: label.count + 1, width: width) + "\n"
    }
    var text = style.red("error:") + line("error:", message)
    if let remedy { text += style.bold("help:") + line("help:", remedy) }
    return text
  }

  /// Prints it on standard error.
  package func print() {
    // Where standard error is closed, nobody is left to be told.
    try? StandardStream.error.write(
      text(style: TerminalStyle(of: .error), width: StandardStream.error.columns))
  }
}
