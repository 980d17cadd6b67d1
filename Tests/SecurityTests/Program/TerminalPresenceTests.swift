// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing
import ThreadkeeperSupport

/// At terminals of their own, so in processes of their own: the tests' terminal stays out of it.
@Suite struct TerminalPresenceTests {
  /// The status of a search for a secret that needs a person, in a keychain of its own and with the
  /// settings of a program that says nothing about persons.
  private static func search(_ more: [String: Any] = [:]) -> OSStatus {
    let path = NSTemporaryDirectory() + "/terminal-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: path) }
    LinuxKeychain.bootstrap(.init(directory: path, accessGroups: ["own"]))
    let control = SecAccessControlCreateWithFlags(
      nil, kSecAttrAccessibleAfterFirstUnlock, .userPresence, nil)
    var item = password("a", secret("hidden"))
    item[kSecAttrAccessControl] = control
    precondition(add(item) == errSecSuccess)
    let found = copy(password("a", [kSecReturnData: true]).merging(more) { $1 })
    precondition((found.status == errSecSuccess) == (found.data == Data("hidden".utf8)))
    return found.status
  }

  @Test func whoeverIsAtTheTerminalIsAskedAndCanAgree() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      terminal.answer("y\n")
      precondition(Self.search([kSecUseOperationPrompt: "open the door"]) == errSecSuccess)
      let name = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().lastPathComponent
      precondition(terminal.screen.hasPrefix("\(name) wants to use a secret"))
      terminal.wait(for: "consent: open the door\r\nAllow it? [y/N] y")
    }
  }

  @Test(arguments: ["n\n", "\n", "yesterday\n", "\u{4}"])
  func everyOtherAnswerRefuses(_ answer: String) async {
    await #expect(processExitsWith: .success) { [answer = answer as String] in
      let terminal = OwnTerminal()
      terminal.answer(answer)
      precondition(Self.search() == errSecUserCanceled)
    }
  }

  @Test func withoutATerminalNobodyIsAsked() async {
    await #expect(processExitsWith: .success) {
      OwnTerminal.leaveTerminal()
      precondition(LinuxKeychain.askOnTerminal(nil) == nil)
      precondition(Self.search() == errSecInteractionNotAllowed)
    }
  }

  @Test func inTheBackgroundOfATerminalNobodyIsAsked() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      let other = Process()
      other.executableURL = URL(fileURLWithPath: "/bin/sleep")
      other.arguments = ["60"]
      try other.run()
      defer { other.terminate() }
      // It has a group of its own, and the terminal from now on.
      precondition(getpgid(other.processIdentifier) == other.processIdentifier)
      precondition(tcsetpgrp(terminal.terminal, other.processIdentifier) == 0)
      precondition(Self.search() == errSecInteractionNotAllowed)
      precondition(terminal.screen.isEmpty)
    }
  }

  @Test func aVariableForbidsToAsk() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      setenv("THREADKEEPER_KEYCHAIN_PRESENCE", "none", 1)
      precondition(Self.search() == errSecInteractionNotAllowed)
      precondition(terminal.screen.isEmpty)
    }
  }

  @Test func skipAndFailAskNobody() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      precondition(
        Self.search([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) == errSecItemNotFound)
      precondition(
        Self.search([kSecUseAuthenticationUI: kSecUseAuthenticationUIFail])
          == errSecInteractionNotAllowed)
      precondition(terminal.screen.isEmpty)
    }
  }

  @Test func whoDoesNotAnswerIsNotThere() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      precondition(LinuxKeychain.askOnTerminal(nil, within: .milliseconds(50)) == nil)
      terminal.wait(for: "Allow it? [y/N] \r\n")
    }
  }

  @Test func whoeverElseReadsAtTheTerminalKeepsNobodyWaiting() async {
    await #expect(processExitsWith: .success) {
      // A call that never returns is killed.
      alarm(60)
      let terminal = OwnTerminal()
      // As a program does that reads its standard input. Now and then a line is there for who asks,
      // and has gone a moment later.
      for _ in 1...3 {
        Thread {
          let own = open("/dev/tty", O_RDWR)
          var buffer = [UInt8](repeating: 0, count: 64)
          while read(own, &buffer, buffer.count) > 0 {}
        }.start()
      }
      for count in 1...100 {
        Thread {
          terminal.wait(for: "[y/N] ", count: count)
          terminal.type("x\n")
        }.start()
        precondition(LinuxKeychain.askOnTerminal(nil, within: .milliseconds(50)) != true)
      }
    }
  }

  @Test func aQuestionIsTakenBackAlsoWhereNoDescriptorIsLeft() async {
    await #expect(processExitsWith: .success) {
      // A call that never returns is killed.
      alarm(60)
      let terminal = OwnTerminal()
      var limit = rlimit()
      precondition(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      var none = limit
      none.rlim_cur = 0
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
      let withdrawal = QuestionWithdrawal()
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      Thread {
        terminal.wait(for: "[once/always/no] ")
        withdrawal.withdraw()
      }.start()
      let choice = TerminalConsent.choice(
        about: "a question", within: .seconds(600), unless: withdrawal)
      precondition(choice == nil)
      terminal.wait(for: "No answer is needed any more.")
    }
  }

  @Test func whatWasTypedBeforeIsNoAnswer() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      terminal.type("y\n")
      terminal.wait(for: "y\r\n")
      terminal.answer("n\n")
      precondition(Self.search() == errSecUserCanceled)
    }
  }

  @Test func aProgramThatReadsSingleKeysGetsItsTerminalBackAsItWas() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      terminal.modes &= ~tcflag_t(ICANON | ECHO)
      let before = terminal.modes
      terminal.answer("yes\r")
      precondition(Self.search() == errSecSuccess)
      precondition(terminal.modes == before)
      terminal.wait(for: "[y/N] yes")
    }
  }

  @Test func aPromptCannotDisguiseTheQuestion() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      terminal.answer("n\n")
      let prompt = "\u{1B}[2J\r\nAllow it?\u{202E}\u{9B}1A" + String(repeating: "x", count: 9999)
      precondition(LinuxKeychain.askOnTerminal(prompt) == false)
      let lines = terminal.screen.components(separatedBy: "\r\n")
      precondition(lines[0].contains("consent: \u{FFFD}[2J\u{FFFD}\u{FFFD}Allow it?\u{FFFD}"))
      precondition(lines[0].hasSuffix("xxx…"))
      precondition(lines[0].count < 400)
      precondition(lines[1].hasPrefix("Allow it? [y/N] "))
    }
  }

  @Test func threadsAskOneAfterTheOther() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      let threads = 8
      let lock = NSCondition()
      // Unchecked: touched under the lock only.
      nonisolated(unsafe) var begun = 0
      nonisolated(unsafe) var answers: [Bool?] = []
      for number in 0..<threads {
        Thread {
          lock.withLock {
            begun += 1
            lock.broadcast()
          }
          let answer = LinuxKeychain.askOnTerminal("number \(number)")
          lock.withLock {
            answers.append(answer)
            lock.broadcast()
          }
        }.start()
      }
      lock.withLock { while begun < threads { lock.wait() } }
      for count in 1...threads {
        terminal.wait(for: "[y/N] ", count: count)
        // Every question but this one has its answer.
        precondition(terminal.screen.components(separatedBy: "wants to").count == count + 1)
        terminal.type(count.isMultiple(of: 2) ? "n\n" : "y\n")
        lock.withLock { while answers.count < count { lock.wait() } }
      }
      precondition(answers == (1...threads).map { !$0.isMultiple(of: 2) })
    }
  }
}
