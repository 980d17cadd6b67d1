// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Dispatch
import Glibc

/// Answers requests on the daemon's own socket.
protocol DaemonRequestAnswering: Sendable {
  /// - Parameter connection: it names the user who asks, as the kernel does.
  /// - Returns: nil when it is no request of a kind that this one answers.
  func answer(_ bytes: [UInt8], _ connection: DaemonConnection) async -> [UInt8]?
}

/// Answers one kind of request: decodes it, checks who asks, has it fulfilled, and encodes the report. It has no rules
/// of its own.
struct DaemonRequestHandler<Request: DaemonRequest>: DaemonRequestAnswering {
  /// Fulfils a request of a user, by number.
  typealias Fulfil = @Sendable (_ request: Request, _ user: UInt32) throws -> Request.Report

  /// One after the other: each may wait for the disk.
  private let queue: DispatchQueue
  private let fulfil: Fulfil

  init(queue name: String, _ fulfil: @escaping Fulfil) {
    queue = DispatchQueue(label: "threadkeeper.\(name)")
    self.fulfil = fulfil
  }

  func answer(_ bytes: [UInt8], _ connection: DaemonConnection) async -> [UInt8]? {
    await answer(bytes, from: connection.peer.user)
  }

  /// - Returns: nil, too, for a user other than the daemon's own and root.
  func answer(_ bytes: [UInt8], from user: UInt32) async -> [UInt8]? {
    guard user == geteuid() || user == 0, let request = Request(bytes: bytes) else { return nil }
    return await request.answer(on: queue) { [fulfil] in try fulfil(request, user) }
  }
}
