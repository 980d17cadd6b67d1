import Dispatch
import Glibc
import Synchronization
import ThreadkeeperSupport

/// A child process that does not outlive this one, with a thread that waits for its end.
final class BrokerProcess: Sendable {
  struct Command: Sendable {
    var program: String
    var arguments: [String]
    /// Where standard output and error go; emptied first.
    var logFile: String
  }

  private struct State {
    var identifier: pid_t = 0
    var spawnError: Int32 = 0
    /// As `waitpid` has it.
    var status: Int32?
    var end: (@Sendable (Int32) -> Void)?
  }

  private let state = Mutex(State())
  private let started = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  var identifier: pid_t { state.withLock { $0.identifier } }
  var status: Int32? { state.withLock { $0.status } }

  init(_ command: Command) throws(EmbeddedBrokerError) {
    do throws(SystemThreadError) { try start(command).detach() } catch { throw .system("pthread_create", error.code) }
    started.wait()
    let error = state.withLock { $0.spawnError }
    guard error == 0 else { throw .system("starting `\(command.program)`", error) }
  }

  /// The thread that starts the child waits for its end, too.
  private func start(_ command: Command) throws(SystemThreadError) -> SystemThread {
    try SystemThread { [self] in
      // Its own group: Ctrl-C is for this process, which then stops it in order.
      var start = ProcessStart(
        program: command.program, arguments: command.arguments, environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"])
      (start.output, start.error) = (.file(command.logFile), .sameAsOutput)
      let guardian = ChildWatch(marker: command.arguments.last ?? command.program)
      let spawned = start.start()
      if spawned.error == 0 { guardian.watch(spawned.identifier) }
      state.withLock {
        $0.identifier = spawned.identifier
        $0.spawnError = spawned.error
      }
      started.signal()
      if spawned.error == 0 { waitForEnd(spawned.identifier) }
      guardian.end()
    }
  }

  /// Calls `end` with the status once it has ended, also when it already has. One only.
  func whenEnded(_ end: @escaping @Sendable (Int32) -> Void) {
    let status = state.withLock { state -> Int32? in
      state.end = end
      return state.status
    }
    if let status { end(status) }
  }

  func signal(_ signal: Int32) {
    state.withLock {
      // Not after it has been waited for: the number may belong to somebody else by then.
      if $0.status == nil, $0.identifier > 0 { _ = Glibc.kill($0.identifier, signal) }
    }
  }

  /// False when it has not ended in that time.
  func waitForEnd(within limit: Duration) -> Bool {
    let nanoseconds = limit.components.seconds * 1_000_000_000 + limit.components.attoseconds / 1_000_000_000
    guard ended.wait(timeout: .now() + .nanoseconds(Int(nanoseconds))) == .success else { return false }
    ended.signal()
    return true
  }

  private func waitForEnd(_ identifier: pid_t) {
    // First without taking the number away from it, so that a signal can't reach another process.
    var information = siginfo_t()
    while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let end = state.withLock { state -> (@Sendable (Int32) -> Void)? in
      var status: Int32 = 0
      while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
      state.status = status
      return state.end
    }
    ended.signal()
    end?(status ?? 0)
  }
}

/// A shell that ends a child of this process when this process is gone, however it went, SIGKILL included.
///
/// It reads from a socket whose other end only this process has, so that it comes to its end with this process. A
/// request to the kernel (PR_SET_PDEATHSIG) would do without it, but is forgotten where the child's program has other
/// rights, and needs a program that asks for it.
private struct ChildWatch {
  /// The number of the child, then the end of input. Nobody else's process is ended who has got that number since.
  private static let script = """
    read -r child || exit 0
    read -r end
    read -r line <"/proc/$child/cmdline"
    case $line in *"$0"*) kill "$child" ;; esac
    """

  private let socket: Int32
  private let shell: pid_t

  /// Starts before the child does: between that and `watch` there is a moment only.
  init(marker: String) {
    var ends: [Int32] = [-1, -1]
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
    var start = ProcessStart(program: "/bin/sh", arguments: ["-c", Self.script, marker], environment: [])
    start.input = .descriptor(ends[0])
    shell = start.start().identifier
    close(ends[0])
    socket = ends[1]
  }

  func watch(_ child: pid_t) {
    let line = Array("\(child)\n".utf8)
    // Where there is no shell, nothing watches the child.
    _ = send(socket, line, line.count, Int32(MSG_NOSIGNAL))
  }

  /// When the child has ended.
  func end() {
    close(socket)
    var status: Int32 = 0
    guard shell > 0 else { return }
    while waitpid(shell, &status, 0) < 0, errno == EINTR {}
  }
}

/// TCP ports of 127.0.0.1.
package enum LoopbackPort {
  /// A port that nobody listens on now.
  static func free() throws(EmbeddedBrokerError) -> UInt16 { try bound(to: 0) }

  package static func isFree(_ port: UInt16) -> Bool { (try? bound(to: port)) != nil }

  private static func bound(to port: UInt16) throws(EmbeddedBrokerError) -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw .system("socket", errno) }
    defer { close(descriptor) }
    // As the broker does: a port whose last connections still linger is free.
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
      let address = bytes.bindMemory(to: sockaddr.self).baseAddress
      guard bind(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0 else { return errno }
      return 0
    }
    guard code == 0 else { throw .system("bind", code) }
    return UInt16(bigEndian: address.sin_port)
  }
}
