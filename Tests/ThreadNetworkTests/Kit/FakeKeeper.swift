// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Foundation
import Synchronization
import TestKit
import ThreadRequests

@testable import ThreadNetwork

/// A real socket with an answer of the test's choice behind it.
final class FakeKeeper: Sendable {
  let path: String
  private let directory: TemporaryDirectory
  private let seen = Mutex<[RequestFields]>([])
  private let listener = Mutex<DaemonListener?>(nil)

  /// - Parameters:
  ///   - path: nil for one in a directory of its own.
  ///   - answer: gets the fields of the request, and how many came before it.
  init(
    at path: String? = nil, _ answer: @escaping @Sendable (RequestFields, Int) async -> [UInt8]
  ) throws {
    directory = try TemporaryDirectory()
    self.path = path ?? directory.file("client.sock")
    let path = self.path
    let listener = try DaemonListener(path: path, patience: 600) { [weak self] bytes, _ in
      guard let fields = try? RequestFields(json: bytes) else { return [] }
      let number =
        self?.seen.withLock {
          $0.append(fields)
          return $0.count - 1
        } ?? 0
      return await answer(fields, number)
    }
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
