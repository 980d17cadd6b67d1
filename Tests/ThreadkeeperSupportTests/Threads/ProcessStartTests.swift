// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import ThreadkeeperSupport

@Suite("Programs as they are started")
struct ProcessStartTests {
  private func end(of identifier: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    return status >> 8 & 0xFF
  }

  private func run(_ script: String, _ variables: [String] = []) -> Int32 {
    let start = ProcessStart(
      program: "/bin/sh", arguments: ["-c", script], environment: variables)
    let (identifier, code) = start.start()
    #expect(code == 0)
    return end(of: identifier)
  }

  @Test("It has three streams, the environment it is given, and a process group of its own")
  func surroundings() {
    #expect(run("exit $NUMBER", ["NUMBER=7"]) == 7)
    #expect(run("[ -z \"$HOME\" ] && exit 3") == 3)
    // The streams, and the one with which the shell lists them.
    #expect(run("set -- /proc/self/fd/*; exit $#") <= 4)
    let ownGroup = "read -r _ _ _ _ group _ </proc/$$/stat; [ $group = $$ ]"
    #expect(run(ownGroup) == 0)
  }

  @Test("A program that is not there is not started, and why is known")
  func missing() {
    var start = ProcessStart(program: "/dev/null/none", environment: [])
    #expect(start.start() == (0, ENOTDIR))
    start.program = "threadkeeper-has-no-such-tool"
    start.searchesPath = true
    #expect(start.start() == (0, ENOENT))
    start.program = "sh"
    start.arguments = ["-c", "exit 5"]
    let found = start.start()
    #expect(found.error == 0 && end(of: found.identifier) == 5)
  }
}
