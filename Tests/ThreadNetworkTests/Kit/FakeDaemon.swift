import Foundation
import Synchronization
import TestKit
import ThreadRequests

@testable import LocalAPI
@testable import ThreadNetwork

/// A real socket with an answer of the test's choice behind it.
final class FakeDaemon: Sendable {
  let path: String
  private let directory: TemporaryDirectory
  private let seen = Mutex<[ThreadRequest]>([])
  private let listener = Mutex<VarlinkServer?>(nil)

  /// - Parameters:
  ///   - path: nil for one in a directory of its own.
  ///   - answer: gets the request, and who asks. See `AnswerMessage`.
  init(at path: String? = nil, _ answer: @escaping @Sendable (ThreadRequest, VarlinkCaller) -> [UInt8]) throws {
    directory = try TemporaryDirectory()
    self.path = path ?? directory.file("client.sock")
    let path = self.path
    let endpoints = RequestMethods.interfaces.flatMap { RequestMethods.methods(of: $0) }.map { command, method in
      VarlinkEndpoint(interface: method.interface, name: method.name, access: method.access, isStream: false) {
        [weak self] call, caller in
        let request = try ThreadRequest(command, call.request())
        self?.seen.withLock { $0.append(request) }
        return AnswerMessage.bytes(answer(request, caller))
      }
    }
    var limits = VarlinkLimits.owner
    (limits.silence, limits.sending) = (.seconds(600), .seconds(600))
    let listener = try VarlinkServer(
      path: path, limits: limits,
      service: VarlinkService(
        .init(vendor: "a", product: "a", version: "1", url: ""), interfaces: RequestMethods.interfaces,
        endpoints: endpoints, failure: { _ in VarlinkError("io.threadkeeper.Failed") }))
    self.listener.withLock { $0 = listener }
  }

  deinit { stop() }

  func stop() { listener.withLock { $0?.stop() } }

  var requests: [ThreadRequest] { seen.withLock { $0 } }

  /// Whoever runs the tests may do so at a terminal, and is not asked there.
  var configuration: THClient.Configuration { THClient.Configuration(socket: path, asksOnTerminal: false) }
  var client: THClient { THClient(configuration: configuration) }
}

/// A listener whose first connections end after the request has come, as those of a process do that is
/// killed. The others are answered.
final class BrokenDaemon: Sendable {
  private let directory: TemporaryDirectory
  private let path: String
  private let descriptor: Int32
  private let count = Mutex(0)

  init(breaking broken: Int, _ answer: @escaping @Sendable (Int) -> [UInt8]) throws {
    directory = try TemporaryDirectory()
    path = directory.file("client.sock")
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in room.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, listen(descriptor, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
    Thread { [descriptor, weak self] in
      while case let connection = accept(descriptor, nil, nil), connection >= 0 {
        let number = self?.next() ?? 0
        Self.serve(connection, number < broken ? nil : answer(number))
      }
    }.start()
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  var calls: Int { count.withLock { $0 } }
  var client: THClient { THClient(configuration: .init(socket: path, asksOnTerminal: false)) }

  private func next() -> Int {
    count.withLock { count in
      count += 1
      return count - 1
    }
  }

  private static func serve(_ connection: Int32, _ answer: [UInt8]?) {
    defer { close(connection) }
    var byte: UInt8 = 1
    while byte != 0 { guard recv(connection, &byte, 1, 0) == 1 else { return } }
    guard let answer else { return }
    let message = AnswerMessage.bytes(answer) + [0]
    _ = send(connection, message, message.count, Int32(MSG_NOSIGNAL))
  }
}

/// The message of an answer.
enum AnswerMessage {
  /// - Parameter answer: as over MQTT. What is none is sent as it is.
  static func bytes(_ answer: [UInt8]) -> [UInt8] {
    guard let read = ThreadAnswer(json: answer) else { return answer }
    if let data = read.data, read.status == .ok { return VarlinkReply(parameters: data, continues: false).encoded() }
    return read.error.map { VarlinkError($0).encoded() } ?? answer
  }
}
