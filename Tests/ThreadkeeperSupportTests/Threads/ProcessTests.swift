import Foundation
import TestKit
import Testing

@testable import ThreadkeeperSupport

@Suite("Programs as they are started") struct ProcessStartTests {
  /// What a program is that no directory of `PATH` has: a directory that may not be searched might have it.
  static let notFound: Int32 = {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let isHidden = path.split(separator: ":").contains { access("\($0)/x", F_OK) != 0 && errno == EACCES }
    return isHidden ? EACCES : ENOENT
  }()

  private func end(of identifier: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    return status >> 8 & 0xFF
  }

  private func run(_ script: String, _ variables: [String] = []) -> Int32 {
    let start = ProcessStart(program: "/bin/sh", arguments: ["-c", script], environment: variables)
    let (identifier, code) = start.start()
    #expect(code == 0)
    return end(of: identifier)
  }

  @Test("It has three streams, the environment it is given, and a process group of its own") func surroundings() {
    #expect(run("exit $NUMBER", ["NUMBER=7"]) == 7)
    #expect(run("[ -z \"$HOME\" ] && exit 3") == 3)
    // The streams, and the one with which the shell lists them.
    #expect(run("set -- /proc/self/fd/*; exit $#") <= 4)
    let ownGroup = "read -r _ _ _ _ group _ </proc/$$/stat; [ $group = $$ ]"
    #expect(run(ownGroup) == 0)
  }

  @Test("A program that is not there is not started, and why is known") func missing() {
    var start = ProcessStart(program: "/dev/null/none", environment: [])
    #expect(start.start() == (0, ENOTDIR))
    start.program = "threadkeeper-has-no-such-tool"
    start.searchesPath = true
    #expect(start.start() == (0, Self.notFound))
    start.program = "sh"
    start.arguments = ["-c", "exit 5"]
    let found = start.start()
    #expect(found.error == 0 && end(of: found.identifier) == 5)
  }
}

@Suite("Programs that are run to their end") struct ToolProcessTests {
  private func tool(_ script: String, timeout: Duration = .seconds(60)) -> ToolProcess {
    ToolProcess(["/bin/sh", "-c", script], variables: ["LC_ALL": "C.UTF-8"], mostOutput: 64, timeout: timeout)
  }

  @Test("It gets the environment with what is replaced, no input, and no descriptor of ours") func surroundings() throws
  {
    let output = try tool("echo $LC_ALL; cat; ls /proc/self/fd | wc -l").output(until: nil)
    // The three streams, and the one with which ls reads.
    #expect(String(decoding: output, as: UTF8.self).split(separator: "\n") == ["C.UTF-8", "4"])
  }

  @Test("How it ends is reported: with a status, by a signal, not started") func ends() {
    #expect(throws: ToolProcess.Failure.ended(status: 3)) { try tool("echo a; exit 3").output(until: nil) }
    #expect(throws: ToolProcess.Failure.killed(signal: SIGTERM)) { try tool("kill -TERM $$").output(until: nil) }
    let notFound = ProcessStartTests.notFound
    #expect(throws: notFound == ENOENT ? .notFound : ToolProcess.Failure.cannotStart(notFound)) {
      try ToolProcess(["threadkeeper-has-no-such-tool"], mostOutput: 1, timeout: .seconds(60)).output(until: nil)
    }
  }

  @Test("Too much output, and too long a time, end it with all that it has started") func bounds() async throws {
    #expect(throws: ToolProcess.Failure.tooMuchOutput) { try tool("yes").output(until: nil) }
    let directory = try TemporaryDirectory()
    let file = directory.file("number")
    var text = ""
    // A machine that is busy may need longer until the tool has begun.
    for seconds in [1, 10, 60] as [Int64] where text.isEmpty {
      #expect(throws: ToolProcess.Failure.timeout(seconds: seconds)) {
        try tool("sleep 600 & echo $! >'\(file)'; wait", timeout: .seconds(seconds)).output(until: nil)
      }
      text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    }
    let child = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    try await eventually("its end") {
      // Its parent is gone; a zombie may wait for whoever inherits it.
      let status = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
      return status == nil || status?.contains(") Z ") == true
    }
    // Nothing on its output, but it does not end.
    #expect(throws: ToolProcess.Failure.timeout(seconds: 1)) {
      try tool("exec >&-; sleep 600", timeout: .seconds(1)).output(until: nil)
    }
  }

  @Test("A raised signal ends a program that runs") func stop() async throws {
    let signal = WakeSignal()
    let directory = try TemporaryDirectory()
    let file = directory.file("started")
    let waiting = tool("touch '\(file)'; sleep 600", timeout: .seconds(600))
    async let result = SystemThread.result { Result { try waiting.output(until: signal) } }
    try await eventually("the program") { FileManager.default.fileExists(atPath: file) }
    let start = ContinuousClock.now
    signal.raise()
    let ended = try await result
    #expect(throws: ToolProcess.Stopped.self) { try ended.get() }
    #expect(ContinuousClock.now - start < .seconds(60))
  }
}
