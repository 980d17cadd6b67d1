// SPDX-License-Identifier: Apache-2.0

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
  private let seen = Mutex<[RequestFields]>([])
  private let listener = Mutex<VarlinkServer?>(nil)

  /// - Parameters:
  ///   - path: nil for one in a directory of its own.
  ///   - answer: gets the fields of the request, and who asks. See `AnswerMessage`.
  init(
    at path: String? = nil,
    _ answer: @escaping @Sendable (RequestFields, VarlinkCaller) -> [UInt8]
  ) throws {
    directory = try TemporaryDirectory()
    self.path = path ?? directory.file("client.sock")
    let path = self.path
    let endpoints = RequestMethods.interfaces.flatMap { RequestMethods.methods(of: $0) }
      .map { command, method in
        VarlinkEndpoint(
          interface: method.interface, name: method.name, access: method.access, isStream: false
        ) { [weak self] call, caller in
          var fields = try call.parameters(RequestParameters.self).fields
          fields.command = command.rawValue
          self?.seen.withLock { $0.append(fields) }
          return AnswerMessage.bytes(answer(fields, caller))
        }
      }
    var limits = VarlinkLimits.owner
    (limits.silence, limits.sending) = (.seconds(600), .seconds(600))
    let listener = try VarlinkServer(
      path: path, limits: limits,
      service: VarlinkService(
        .init(vendor: "a", product: "a", version: "1", url: ""),
        interfaces: RequestMethods.interfaces, endpoints: endpoints,
        failure: { _ in VarlinkError("io.threadkeeper.Failed") }))
    self.listener.withLock { $0 = listener }
  }

  deinit { stop() }

  func stop() { listener.withLock { $0?.stop() } }

  var requests: [RequestFields] { seen.withLock { $0 } }

  /// Whoever runs the tests may do so at a terminal, and is not asked there.
  var configuration: THClient.Configuration {
    THClient.Configuration(socket: path, asksOnTerminal: false)
  }
  var client: THClient { THClient(configuration: configuration) }
}
