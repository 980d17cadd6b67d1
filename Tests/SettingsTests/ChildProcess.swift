// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A program that runs beside the test, its output in a file.
///
/// It starts with no signal blocked: tests run on threads that block them all, a child inherits
/// that, also from Foundation's `Process`, and a broker which blocks SIGTERM never ends.
final class ChildProcess {
  private let identifier: pid_t
  private let output: String
  private var hasExited = false

  init(_ path: String, _ arguments: [String], output: String) throws {
    self.output = output
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let words = ([path] + arguments).map { strdup($0) }
    defer { words.forEach { free($0) } }
    var identifier: pid_t = 0
    let result = posix_spawn(&identifier, path, &actions, &attributes, words + [nil], environ)
    try #require(result == 0, "\(path): \(String(cString: strerror(result)))")
    self.identifier = identifier
  }

  deinit {
    if !hasExited {
      kill(identifier, SIGTERM)
      waitForExit()
    }
  }

  /// What it has written so far.
  var text: String {
    (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
  }

  var isRunning: Bool {
    var status: Int32 = 0
    if !hasExited { hasExited = waitpid(identifier, &status, WNOHANG) == identifier }
    return !hasExited
  }

  /// Ends the program itself when it takes longer than 30 seconds.
  func waitForExit() {
    let end = ContinuousClock.now.advanced(by: .seconds(30))
    while isRunning {
      if ContinuousClock.now > end { kill(identifier, SIGKILL) }
      usleep(2_000)
    }
  }
}
