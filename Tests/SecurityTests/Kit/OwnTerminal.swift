// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A terminal that controls this process from now on, and somebody who reads and types there. For
/// processes of exit tests, which have nothing to lose.
final class OwnTerminal: Sendable {
  private let controller: Int32
  /// The side of the program.
  let terminal: Int32
  private let lock = NSCondition()
  // Unchecked: touched under the lock only.
  nonisolated(unsafe) private var bytes: [UInt8] = []

  init() {
    var controller: Int32 = -1
    var terminal: Int32 = -1
    precondition(openpty(&controller, &terminal, nil, nil, nil) == 0)
    (self.controller, self.terminal) = (controller, terminal)
    Self.leaveTerminal()
    precondition(ioctl(terminal, UInt(TIOCSCTTY), 0) == 0)
    Thread { self.read() }.start()
  }

  /// Afterwards this process has no terminal that controls it.
  static func leaveTerminal() { precondition(setsid() >= 0) }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(controller, &buffer, buffer.count)
      guard count > 0 else { return }
      lock.withLock {
        bytes += buffer[..<count]
        lock.broadcast()
      }
    }
  }

  /// All that the terminal has shown.
  var screen: String { lock.withLock { String(decoding: bytes, as: UTF8.self) } }

  /// Waits until the terminal has shown a text so many times; ends the process when it does not.
  func wait(for text: String, count: Int = 1) {
    let deadline = Date() + 30
    lock.withLock {
      while String(decoding: bytes, as: UTF8.self).components(separatedBy: text).count <= count {
        precondition(lock.wait(until: deadline), "\(text) is not shown")
      }
    }
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    precondition(write(controller, bytes, bytes.count) == bytes.count)
  }

  /// Has somebody answer the next question, beside this thread.
  func answer(_ text: String) {
    Thread {
      self.wait(for: "[y/N] ")
      self.type(text)
    }.start()
  }

  /// How the terminal treats what is typed.
  var modes: tcflag_t {
    get {
      var state = termios()
      precondition(tcgetattr(terminal, &state) == 0)
      return state.c_lflag
    }
    set {
      var state = termios()
      precondition(tcgetattr(terminal, &state) == 0)
      state.c_lflag = newValue
      precondition(tcsetattr(terminal, TCSANOW, &state) == 0)
    }
  }
}
