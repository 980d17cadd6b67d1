// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket

/// Each in a process of its own: a program that another test starts meanwhile would have copies of the sockets
/// here, and would be the last to close them.
@Suite("Open files whose close takes long", .timeLimit(.minutes(30)))
struct LingeringDescriptorTests {
  /// Lets the daemon go on with the first callers one by one: when each has passed its file and closed its
  /// own copy. Before that it would not be the daemon who closes it last.
  private final class Gate: Sendable {
    private let counts = Mutex((come: 0, passed: 0))
    private let callers: Int

    init(_ callers: Int) { self.callers = callers }

    func pass() {
      let number = counts.withLock {
        $0.come += 1
        return min($0.come, callers)
      }
      while counts.withLock({ $0.passed }) < number { usleep(1_000) }
    }

    func open() { counts.withLock { $0.passed += 1 } }
  }

  /// A socket of the daemon, and its callers.
  private final class Scene: Sendable {
    private let directory: TemporaryDirectory
    private let listener: DaemonListener
    private var path: String { directory.file("run/client.sock") }

    init(
      takesDescriptors: Bool,
      judge: @escaping @Sendable (UInt32) -> DaemonListener.Admission.Verdict
    ) throws {
      directory = try TemporaryDirectory()
      var admission = DaemonListener.Admission(.everybody, judge: judge)
      admission.takesDescriptors = takesDescriptors
      admission.complaint = { Array($0.message.utf8) }
      listener = try DaemonListener(
        path: directory.file("run/client.sock"), admission: admission, patience: 600
      ) { request, _ in request }
    }

    func stop() { listener.stop() }

    func ask(_ bytes: [UInt8]) async throws -> String {
      let answer = try await DaemonCaller.ask(bytes, passing: [], at: path, within: 240)
      return String(decoding: answer ?? [], as: UTF8.self)
    }

    /// Calls, passes a file, and closes its own copy, so that who closes it next is the last.
    func call(passing descriptor: Int32) throws -> DaemonConnection {
      let address = try SocketAddress(path)
      let call = try SocketAddress.makeSocket(path)
      #expect(address.withAddress { connect(call, $0, $1) } == 0)
      let connection = try DaemonConnection(call)
      try connection.send([1], passing: [descriptor], by: .now + .seconds(240))
      close(descriptor)
      return connection
    }

    /// What the caller is told.
    func answer(to connection: DaemonConnection) async throws -> String {
      try await withCheckedThrowingContinuation { continuation in
        OwnThread.start {
          continuation.resume(
            with: Result {
              String(decoding: try connection.receive(by: .now + .seconds(240)), as: UTF8.self)
            })
        }
      }
    }
  }

  @Test(
    "One whose close takes long keeps nobody else waiting, however many there are",
    arguments: [("taken", 6), ("not taken", 6), ("not admitted", 40)])
  func lingering(how: String, count: Int) async throws {
    // Fewer than one user has places; of those that are sent away, more than there were threads for.
    await #expect(processExitsWith: .success) { [how, count] in
      let admitsNone = Mutex(how == "not admitted")
      let gate = Gate(count)
      let scene = try Scene(takesDescriptors: how == "taken") { _ in
        gate.pass()
        return admitsNone.withLock { $0 } ? .refused(answer: Array("no".utf8)) : .admitted
      }
      defer { scene.stop() }
      let sockets = try (0..<count).map { _ in try LingeringSocket() }
      defer { for one in sockets { one.end() } }
      let words = ["taken": "\u{1}", "not taken": "no open files are taken here"][how] ?? "no"
      var connections: [DaemonConnection] = []
      for one in sockets {
        connections.append(try scene.call(passing: one.socket))
        gate.open()
      }
      for connection in connections { #expect(try await scene.answer(to: connection) == words) }
      admitsNone.withLock { $0 = false }
      #expect(try await scene.ask([0x61]) == "a")
    }
  }

  /// Whether a thread may have a table of open files for itself here.
  private static var hasOwnTables: Bool {
    let isAllowed = Mutex(false)
    let done = DispatchSemaphore(value: 0)
    let hasThread = OwnThread.startNew {
      isAllowed.withLock { $0 = PromptClose.takeTable() }
      done.signal()
    }
    guard hasThread else { return false }
    done.wait()
    return isAllowed.withLock { $0 }
  }

  @Test(
    "A close that would take long takes no place either", .enabled(if: Self.hasOwnTables),
    arguments: [false, true])
  func lingeringPlaces(takesDescriptors: Bool) async throws {
    await #expect(processExitsWith: .success) { [takesDescriptors] in
      // More than one user has places.
      let count = 20
      let gate = Gate(count)
      let scene = try Scene(takesDescriptors: takesDescriptors) { _ in
        gate.pass()
        return .admitted
      }
      defer { scene.stop() }
      let words = takesDescriptors ? "\u{1}" : "no open files are taken here"
      for _ in 0..<count {
        let one = try LingeringSocket()
        defer { one.end() }
        let connection = try scene.call(passing: one.socket)
        gate.open()
        #expect(try await scene.answer(to: connection) == words)
        try await eventually("the end") { connection.isGone }
      }
    }
  }
}
