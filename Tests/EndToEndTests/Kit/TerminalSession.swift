// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit

/// A command at a terminal of its own, and somebody who types and reads there.
final class TerminalSession: Sendable {
  private let controller: Int32
  private let process: ChildProcess
  private let shown: Shown

  private final class Shown: Sendable {
    let octets = Mutex<[UInt8]>([])
  }

  /// - Parameters:
  ///   - program: threadkeeper unless given.
  ///   - errorFile: where standard error goes; the terminal unless given.
  init(
    program: String = ThreadkeeperBinary.executable.path, _ arguments: [String],
    environment: [String: String], errorFile: String? = nil
  ) throws {
    var controller: Int32 = -1
    var terminal: Int32 = -1
    guard openpty(&controller, &terminal, nil, nil, nil) == 0 else {
      throw DaemonProcess.Unexpected(description: "no terminal could be made")
    }
    for descriptor in [controller, terminal] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    defer { close(terminal) }
    // A session of its own, with this terminal as the one that controls it.
    process = try ChildProcess(
      "/usr/bin/setsid",
      ["--ctty", "--wait", program] + arguments,
      environment: environment,
      streams: (
        .descriptor(terminal), .descriptor(terminal),
        errorFile.map { .file($0) } ?? .descriptor(terminal)
      ))
    let shown = Shown()
    self.controller = controller
    self.shown = shown
    let reader = Thread { [controller] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(controller, &buffer, buffer.count)
        guard count > 0 else { return }
        shown.octets.withLock { $0 += buffer[..<count] }
      }
    }
    reader.start()
  }

  deinit {
    process.signal(SIGTERM)
    close(controller)
  }

  var isRunning: Bool { process.isRunning }

  /// All that the terminal has shown.
  var screen: String { shown.octets.withLock { String(decoding: $0, as: UTF8.self) } }

  /// Whether what is typed is shown.
  var isEchoing: Bool {
    var state = termios()
    return tcgetattr(controller, &state) == 0 && state.c_lflag & tcflag_t(ECHO) != 0
  }

  func type(_ text: String) {
    let octets = Array(text.utf8)
    _ = write(controller, octets, octets.count)
  }

  /// Waits for a text after the part of the screen that was seen already, and types an answer.
  func until(_ text: String, count: Int = 1) async throws {
    do {
      try await eventually(within: .seconds(60)) {
        screen.components(separatedBy: text).count > count
      }
    } catch is TimedOut {
      throw DaemonProcess.Unexpected(
        description: "`\(text)` is not shown \(count) times; the terminal shows:\n\(screen)")
    }
  }

  /// Waits until a question hides what is typed.
  func untilHidden() async throws {
    try await eventually("a hidden question") { !isEchoing }
  }

  func signal(_ number: Int32, to process: Int32) { kill(process, number) }

  /// Waits for the end; the exit status, or a signal's number with a minus.
  func end() async throws -> Int32 {
    do {
      try await eventually(within: .seconds(60)) { !isRunning }
    } catch is TimedOut {
      throw DaemonProcess.Unexpected(
        description: "the command does not end; the terminal shows:\n\(screen)")
    }
    switch process.wait() {
    case .exit(let status): return status
    case .signal(let number): return -number
    }
  }
}
