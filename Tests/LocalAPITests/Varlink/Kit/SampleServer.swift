// SPDX-License-Identifier: Apache-2.0

import TestKit

@testable import LocalAPI

/// The sample service on a socket of its own. It ends with the last reference.
final class SampleServer: Sendable {
  let sample = SampleService()
  let server: VarlinkServer
  private let directory: TemporaryDirectory

  var path: String { directory.file("run/varlink.sock") }

  init(
    _ limits: VarlinkLimits = .unhurried, reach: SocketReach = .everybody,
    judge: @escaping @Sendable (SocketPeer) -> VarlinkVerdict = { _ in .admitted(.owner) }
  ) throws {
    directory = try TemporaryDirectory()
    server = try VarlinkServer(
      path: directory.file("run/varlink.sock"), reach: reach, limits: limits,
      service: sample.service, judge: judge)
  }

  func client() async throws -> VarlinkClient? {
    try await VarlinkClient.connect(to: path, within: .unhurried)
  }

  func caller() throws -> RawCaller { try RawCaller(path) }

  /// Whether a new connection is served.
  func answers() async throws -> Bool {
    let caller = try caller()
    caller.send(Self.ping("a"))
    return try await caller.reply() == "{\"parameters\":{\"text\":\"a\"}}"
  }

  static func ping(_ text: String) -> String {
    "{\"method\":\"org.example.sample.Ping\",\"parameters\":{\"text\":\"\(text)\"}}"
  }

  static func call(_ method: String, _ parameters: String = "{}", _ flags: String = "") -> String {
    "{\"method\":\"org.example.sample.\(method)\",\"parameters\":\(parameters)\(flags)}"
  }
}

extension Duration {
  /// Beside a thousand other tests a call may wait for minutes.
  static let unhurried = Duration.seconds(600)
}

extension VarlinkLimits {
  static var unhurried: VarlinkLimits {
    var limits = VarlinkLimits.owner
    limits.silence = .unhurried
    limits.sending = .unhurried
    return limits
  }
}
