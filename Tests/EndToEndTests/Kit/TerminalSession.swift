// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit

/// A command at a terminal of its own, and somebody who types and reads there.
final class TerminalSession: Sendable {
  private let controller: Int32
  private let process: Process
  private let shown: Shown

  private final class Shown: Sendable {
    let octets = Mutex<[UInt8]>([])
    let status = Mutex<Int32?>(nil)
  }

  /// - Parameter errorFile: where standard error goes; the terminal unless given.
  init(_ arguments: [String], environment: [String: String], errorFile: String? = nil) throws {
    var controller: Int32 = -1
    var terminal: Int32 = -1
    guard openpty(&controller, &terminal, nil, nil, nil) == 0 else {
      throw DaemonProcess.Unexpected(description: "no terminal could be made")
    }
    for descriptor in [controller, terminal] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    let handle = FileHandle(fileDescriptor: terminal, closeOnDealloc: true)
    let shown = Shown()
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
    // A session of its own, with this terminal as the one that controls it.
    process.arguments = ["--ctty", "--wait", ThreadkeeperBinary.executable.path] + arguments
    process.environment = environment
    process.standardInput = handle
    process.standardOutput = handle
    process.standardError = handle
    if let errorFile {
      try Data().write(to: URL(fileURLWithPath: errorFile))
      process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errorFile))
    }
    process.terminationHandler = { process in
      let status = process.terminationStatus
      shown.status.withLock { $0 = process.terminationReason == .exit ? status : -status }
    }
    try process.runUnmasked()
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
    if isRunning { process.terminate() }
    close(controller)
  }

  var isRunning: Bool { shown.status.withLock { $0 == nil } }

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
    return shown.status.withLock { $0 ?? 0 }
  }
}
