// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension termios {
  /// Whole lines, shown while they are typed, whatever a program has chosen before.
  var forLine: termios {
    var modes = self
    modes.c_iflag |= tcflag_t(ICRNL)
    modes.c_oflag |= tcflag_t(OPOST | ONLCR)
    modes.c_lflag |= tcflag_t(ICANON | ECHO | ISIG)
    return modes
  }

  /// Whole lines that are not shown, except for their end. The keys of signals end the line.
  var forHiddenLine: termios {
    var modes = forLine
    modes.c_lflag &= ~tcflag_t(ECHO | ISIG)
    modes.c_lflag |= tcflag_t(ECHONL | IEXTEN)
    let (interrupt, quit) = (key(VINTR), key(VQUIT))
    withUnsafeMutableBytes(of: &modes.c_cc) {
      $0[Int(VEOL)] = interrupt
      $0[Int(VEOL2)] = quit
    }
    return modes
  }

  var hidesLine: Bool {
    c_lflag & tcflag_t(ECHO | ISIG) == 0 && c_lflag & tcflag_t(ICANON) != 0
  }

  /// The signal that each key sends.
  var signalKeys: [UInt8: Int32] {
    var keys = [key(VQUIT): SIGQUIT]
    keys[key(VINTR)] = SIGINT
    // Where no key sends it.
    keys[0] = nil
    return keys
  }

  private func key(_ index: Int32) -> UInt8 {
    withUnsafeBytes(of: c_cc) { $0[Int(index)] }
  }
}
