import Foundation
import Synchronization
import TestKit
import Testing

@testable import LocalAPI

/// What is left to the daemon where the kernel cannot refuse open files.
@Suite("Open files whose close takes long", .timeLimit(.minutes(30))) struct LingeringDescriptorTests {
  @Test(
    "They hold up nobody but their sender, whether that is served or sent away",
    arguments: [(isAdmitted: true, count: 6), (isAdmitted: false, count: 40)]) func lingering(
      isAdmitted: Bool, count: Int
    ) async throws
  {
    let ready = try TemporaryDirectory()
    let judged = Mutex(0)
    let server = try SampleServer(limits: { $0.refusesDescriptors = false }) { [process = getpid()] peer in
      guard peer.processID != process else { return .admitted(.owner) }
      let number = judged.withLock {
        $0 += 1
        return $0
      }
      LingeringPeer.wait(for: number, in: ready)
      return isAdmitted ? .admitted(.owner) : .refused(.permissionDenied)
    }
    let peer = try LingeringPeer(server.path, count: count, ready)
    try await eventually("all connections") { judged.withLock { $0 } == count }
    for _ in 0..<20 { #expect(try await server.answers()) }
    withExtendedLifetime(peer) {}
  }
}

/// A program that passes open files whose close takes ten minutes: connections over TCP that linger, and whose other
/// side takes nothing. Each connection of it waits in the server's judge until the program has closed its own copy, so
/// that the server is the last who closes it.
final class LingeringPeer: Sendable {
  private let process: ChildProcess
  private let directory: TemporaryDirectory

  /// - Parameters:
  ///   - directory: has a file for each connection that is ready: `1`, `2`, …
  init(_ path: String, count: Int, _ directory: TemporaryDirectory) throws {
    self.directory = directory
    process = try ChildProcess(
      "/usr/bin/env", ["python3", "-c", Self.script, path, "\(count)", directory.path],
      environment: ProcessInfo.processInfo.environment)
  }

  deinit { process.signal(SIGKILL) }

  /// Waits in a thread of the server's.
  static func wait(for number: Int, in directory: TemporaryDirectory) {
    while access(directory.file("\(number)"), F_OK) != 0 { usleep(1_000) }
  }

  private static let script = """
    import socket, struct, sys, time
    path, count, directory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    kept = []
    for number in range(1, count + 1):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        passed = socket.socket()
        passed.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        passed.connect(listener.getsockname())
        kept.append(listener.accept()[0])
        passed.setblocking(False)
        try:
            while True:
                passed.send(bytes(65536))
        except BlockingIOError:
            pass
        passed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 600))
        caller = socket.socket(socket.AF_UNIX)
        caller.connect(path)
        socket.send_fds(caller, [b" "], [passed.fileno()])
        kept.append(caller)
        passed.close()
        listener.close()
        open(directory + "/" + str(number), "w").close()
    time.sleep(600)
    """
}
