import Glibc
import ServiceLifecycle
import UnixSignals

/// What signals do to a program that runs until it is stopped.
package enum StopSignals {
  /// Has the group end in order on SIGTERM, SIGINT, and SIGHUP: a terminal that is closed, or a session that ends.
  /// Where SIGHUP is ignored from the start, as by nohup(1), it stays so.
  package static func stop(_ group: inout ServiceGroupConfiguration) {
    var hangUp = sigaction()
    sigaction(SIGHUP, nil, &hangUp)
    let isIgnored =
      unsafeBitCast(hangUp.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    group.gracefulShutdownSignals = isIgnored ? [.sigterm, .sigint] : [.sigterm, .sigint, .sighup]
  }

  /// Signals that would end the program, and that others send to daemons for reasons of their own: SIGPIPE, when a
  /// reader of the log goes away; SIGUSR1 and SIGUSR2, with which tools ask other daemons to open their logs again.
  package static func ignoreOthers() { for number in [SIGPIPE, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) } }
}
