// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadkeeperDaemon

/// Bold and colours for a person at a terminal; nothing at all for files, pipes and `NO_COLOR`.
package struct TerminalStyle: Sendable {
  /// Whether there is any style.
  package let isOn: Bool

  /// Without any style.
  package static let plain = TerminalStyle(isOn: false)

  package init(isOn: Bool) {
    self.isOn = isOn
  }

  /// The style for a stream: on only for a terminal that can do it, and not with `NO_COLOR` set
  /// (https://no-color.org).
  package init(of stream: StandardStream) {
    func isSet(_ name: String) -> Bool { getenv(name).map { $0.pointee != 0 } ?? false }
    let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
    self.init(isOn: stream.isTerminal && !isDumb && !isSet("NO_COLOR"))
  }

  package func bold(_ text: String) -> String { styled("1", text) }
  package func red(_ text: String) -> String { styled("1;31", text) }
  package func green(_ text: String) -> String { styled("32", text) }

  private func styled(_ code: String, _ text: String) -> String {
    isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

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
