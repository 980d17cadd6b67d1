import Foundation
import Synchronization
import TestKit

/// A command at a terminal of its own, and somebody who types and reads there.
final class TerminalSession: Sendable {
  private let controller: Int32
  private let process: ChildProcess
  private let shown: Shown
  private let isHungUp = Atomic(false)

  private final class Shown: Sendable {
    let bytes = Mutex<[UInt8]>([])
    let isAbandoned = Atomic(false)
    /// Everything is read: nobody has the terminal any more.
    let isComplete = Atomic(false)
    let hasEnded = DispatchSemaphore(value: 0)

    func read(from controller: Int32) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while !isAbandoned.load(ordering: .relaxed) {
        // With a limit: what is closed under a waiting reader does not wake it.
        var ready = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 20) > 0 else { continue }
        let count = Glibc.read(controller, &buffer, buffer.count)
        guard count > 0 || errno == EINTR else {
          isComplete.store(true, ordering: .releasing)
          break
        }
        bytes.withLock { $0 += buffer[..<max(count, 0)] }
      }
      hasEnded.signal()
    }
  }

  /// - Parameters:
  ///   - program: threadkeeper unless given.
  ///   - errorFile: where standard error goes; the terminal unless given.
  init(
    program: String = ThreadkeeperBinary.executable.path, _ arguments: [String], environment: [String: String],
    errorFile: String? = nil
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
      "/usr/bin/setsid", ["--ctty", "--wait", program] + arguments,
      // Swift's runtime would take Ctrl-\ for a crash, and ask questions of its own.
      environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 },
      streams: (.descriptor(terminal), .descriptor(terminal), errorFile.map { .file($0) } ?? .descriptor(terminal)))
    let shown = Shown()
    self.controller = controller
    self.shown = shown
    Thread { [controller] in shown.read(from: controller) }.start()
  }

  deinit {
    process.signal(SIGTERM)
    hangUp()
  }

  /// Closes the terminal, as its window would. What has it may go on.
  func hangUp() {
    guard !isHungUp.exchange(true, ordering: .acquiringAndReleasing) else { return }
    shown.isAbandoned.store(true, ordering: .relaxed)
    // The number may be another file's as soon as it is closed.
    shown.hasEnded.wait()
    close(controller)
  }

  var isRunning: Bool { process.isRunning }

  /// All that the terminal has shown.
  var screen: String { shown.bytes.withLock { String(decoding: $0, as: UTF8.self) } }

  /// Whether what is typed is shown.
  var isEchoing: Bool {
    var state = termios()
    return tcgetattr(controller, &state) == 0 && state.c_lflag & tcflag_t(ECHO) != 0
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(controller, bytes, bytes.count)
  }

  /// Sends a signal from outside to the command that has the terminal.
  func signal(_ number: Int32) throws {
    let group = tcgetpgrp(controller)
    guard group > 1, kill(-group, number) == 0 else {
      throw DaemonProcess.Unexpected(description: "nobody has the terminal")
    }
  }

  /// Waits until the terminal has shown a text so many times.
  func until(_ text: String, count: Int = 1) async throws {
    do {
      try await eventually(within: .seconds(60)) { screen.components(separatedBy: text).count > count }
    } catch is TimedOut {
      throw DaemonProcess.Unexpected(
        description: "`\(text)` is not shown \(count) times; the terminal shows:\n\(screen)")
    }
  }

  /// Waits until a question hides what is typed.
  func untilHidden() async throws { try await eventually("a hidden question") { !isEchoing } }

  /// Waits for the end, and for all that was shown; the exit status, or a signal's number with a minus.
  func end() async throws -> Int32 {
    do {
      try await eventually(within: .seconds(60)) { !isRunning && shown.isComplete.load(ordering: .acquiring) }
    } catch is TimedOut {
      throw DaemonProcess.Unexpected(description: "the command does not end; the terminal shows:\n\(screen)")
    }
    switch process.wait() {
    case .exit(let status): return status
    case .signal(let number): return -number
    }
  }
}
