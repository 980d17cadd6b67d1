import ArgumentParser
import Glibc

/// Standard output and standard error, unbuffered: a full disk is an error here, not a loss.
package enum StandardStream: Int32 {
  case output = 1
  case error = 2

  /// Gets what a command writes that does not run as a program of its own; nil: the streams of this process do.
  @TaskLocal static var receiver: (@Sendable (StandardStream, String) -> Void)?

  /// Writes all of the text.
  ///
  /// - Throws: `CommandFailure` with status 74 when the stream takes no more.
  package func write(_ text: String) throws(CommandFailure) {
    guard let receiver = Self.receiver else { return try Self.write(text, to: rawValue) }
    receiver(self, text)
  }

  /// The same to any descriptor. One that is shared with other programs may be set not to block.
  ///
  /// - Parameter limit: milliseconds for which a reader may take nothing; below 0: any time.
  static func write(_ text: String, to descriptor: Int32, waiting limit: Int32 = -1) throws(CommandFailure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count < 0 else {
        rest = rest.dropFirst(count)
        continue
      }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard errno == EINTR || errno == EAGAIN && poll(&waiting, 1, limit) != 0 else {
        throw CommandFailure(.inputOutput, "can't write: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Whether a person looks at it.
  var isTerminal: Bool { Self.receiver == nil && isatty(rawValue) == 1 }

  /// How many characters the terminal has in a line; nil where there is no terminal.
  var columns: Int? {
    var size = winsize()
    guard isTerminal, ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}

/// Bold and colours for a person at a terminal; nothing at all for files, pipes and `NO_COLOR`.
package struct TerminalStyle {
  /// Whether there is any style.
  let isOn: Bool

  /// Without any style.
  static let plain = TerminalStyle(isOn: false)

  init(isOn: Bool) { self.isOn = isOn }

  /// On only for a terminal that can do it, and not with `NO_COLOR` set (https://no-color.org).
  ///
  /// - Parameters:
  ///   - noColor: value of `NO_COLOR`: any but an empty one asks for none.
  ///   - terminal: value of `TERM`.
  init(descriptor: Int32, noColor: String? = variable("NO_COLOR"), terminal: String? = variable("TERM")) {
    self.init(isOn: (noColor ?? "").isEmpty && (terminal ?? "dumb") != "dumb" && isatty(descriptor) == 1)
  }

  init(of stream: StandardStream) {
    self.init(isOn: stream.isTerminal && TerminalStyle(descriptor: stream.rawValue).isOn)
  }

  static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  func bold(_ text: String) -> String { styled("1", text) }
  func red(_ text: String) -> String { styled("1;31", text) }
  func green(_ text: String) -> String { styled("32", text) }

  func styled(_ code: String, _ text: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}

extension CommandFailure {
  /// `error: …`, and on a line of its own `help: …`.
  func text(style: TerminalStyle) -> String {
    "\(style.red("error:")) \(message.printable)\n" + (remedy.map { "\(style.bold("help:")) \($0.printable)\n" } ?? "")
  }

  /// Prints it on standard error.
  func print() {
    // Where standard error is closed, nobody reads it.
    try? StandardStream.error.write(text(style: TerminalStyle(of: .error)))
  }
}

/// One line on a terminal that says what is waited for. Elsewhere nothing.
package struct WaitingLine {
  private let isOn = StandardStream.error.isTerminal

  package init() {}

  package func show(_ what: String) { if isOn { try? StandardStream.error.write("\r\u{1B}[K\(what) …") } }

  /// Takes the line away.
  package func end() { if isOn { try? StandardStream.error.write("\r\u{1B}[K") } }
}

/// How a command prints its answer; the same for every command.
package struct OutputOptions: ParsableArguments {
  @Flag(name: .long, help: "Print JSON.") var json = false

  package init() {}

  /// Prints the value as JSON where that is asked for, otherwise the text.
  package func show(_ value: some Encodable, text: @autoclosure () -> String) throws(CommandFailure) {
    try StandardStream.output.write(json ? JSONText.pretty(value) : text())
  }
}
