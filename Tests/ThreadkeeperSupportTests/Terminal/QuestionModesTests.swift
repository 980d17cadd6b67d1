import Glibc
import Testing

@testable import ThreadkeeperSupport

@Suite("Terminal modes of a question") struct QuestionModesTests {
  /// As a program has them that reads single keys, unseen.
  private static var raw: termios {
    var modes = termios()
    cfmakeraw(&modes)
    withUnsafeMutableBytes(of: &modes.c_cc) {
      $0[Int(VINTR)] = 3
      $0[Int(VQUIT)] = 28
    }
    return modes
  }

  @Test("A shown question reads whole lines, shows what is typed, and leaves signals to the terminal") func shown() {
    let modes = Self.raw.forLine
    #expect(modes.c_lflag & tcflag_t(ICANON) != 0)
    #expect(modes.c_lflag & tcflag_t(ECHO) != 0)
    #expect(modes.c_lflag & tcflag_t(ISIG) != 0)
    #expect(!modes.hidesLine)
  }

  @Test("A hidden question shows only the end of the line, and the keys of signals end it") func hidden() {
    let modes = Self.raw.forHiddenLine
    #expect(modes.hidesLine)
    #expect(modes.c_lflag & tcflag_t(ECHO | ISIG) == 0)
    #expect(modes.c_lflag & tcflag_t(ICANON | ECHONL) == tcflag_t(ICANON | ECHONL))
    let keys = withUnsafeBytes(of: modes.c_cc) { [$0[Int(VEOL)], $0[Int(VEOL2)]] }
    #expect(keys == [3, 28])
  }

  @Test("A terminal that still shows what is typed, or sends signals, does not hide") func cannotHide() {
    for flag in [ECHO, ISIG] {
      var modes = Self.raw.forHiddenLine
      modes.c_lflag |= tcflag_t(flag)
      #expect(!modes.hidesLine)
    }
  }

  @Test("Keys of signals are those of the terminal; one that is switched off sends nothing") func signalKeys() {
    #expect(Self.raw.signalKeys == [3: SIGINT, 28: SIGQUIT])
    var modes = Self.raw
    withUnsafeMutableBytes(of: &modes.c_cc) { $0[Int(VQUIT)] = 0 }
    #expect(modes.signalKeys == [3: SIGINT])
  }
}
