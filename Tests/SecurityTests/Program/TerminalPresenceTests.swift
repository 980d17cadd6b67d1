import Foundation
import Security
import TestKit
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
    precondition(add(password("a", secret("hidden"), control())) == errSecSuccess)
    let found = copy(password("a", [kSecReturnData: true], more))
    precondition((found.status == errSecSuccess) == (found.data == Data("hidden".utf8)))
    return found.status
  }

  @Test func whoeverIsAtTheTerminalIsAskedAndEveryAnswerButYesRefuses() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      // What was typed before is no answer.
      terminal.type("y\n")
      terminal.wait(for: "y\r\n")
      for (answer, status) in [
        ("n\n", errSecUserCanceled), ("y\n", errSecSuccess), ("\n", errSecUserCanceled),
        ("yesterday\n", errSecUserCanceled), ("\u{4}", errSecUserCanceled),
      ] {
        terminal.answer(answer)
        precondition(Self.search([kSecUseOperationPrompt: "open the door"]) == status)
      }
      let name = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().lastPathComponent
      precondition(
        terminal.screen.contains(
          "\(name) wants to use a secret that needs a person's consent: open the door\r\n" + "Allow it? [y/N] y"))
      // Who does not answer is not there.
      let line = "Allow it? [y/N] \r\n"
      let count = terminal.screen.components(separatedBy: line).count
      precondition(LinuxKeychain.askOnTerminal(nil, within: .milliseconds(50)) == nil)
      terminal.wait(for: line, count: count)
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

  @Test func skipAndFailAndAVariableAskNobody() async {
    await #expect(processExitsWith: .success) {
      let terminal = OwnTerminal()
      for (ui, status) in [
        (kSecUseAuthenticationUISkip, errSecItemNotFound), (kSecUseAuthenticationUIFail, errSecInteractionNotAllowed),
      ] { precondition(Self.search([kSecUseAuthenticationUI: ui]) == status) }
      setenv("THREADKEEPER_KEYCHAIN_PRESENCE", "none", 1)
      precondition(Self.search() == errSecInteractionNotAllowed)
      precondition(terminal.screen.isEmpty)
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
      for count in 1...(Soak.triesAll ? 100 : 20) {
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
      let choice = TerminalConsent.choice(about: "a question", within: .seconds(600), unless: withdrawal)
      precondition(choice == nil)
      terminal.wait(for: "No answer is needed any more.")
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

/// A terminal that controls this process from now on, and somebody who reads and types there. For
/// processes of exit tests, which have nothing to lose.
private final class OwnTerminal: Sendable {
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
    let asked = screen.components(separatedBy: "[y/N] ").count
    Thread {
      self.wait(for: "[y/N] ", count: asked)
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
