// SPDX-License-Identifier: Apache-2.0

import SystemThreads
import ThreadDataset

/// What an OpenThread Border Router is asked over its REST interface, on the caller's thread.
package struct OTBRClient: Sendable {
  package let address: HTTPAddress
  /// For each request, with the look-up of a name.
  package let timeout: Duration
  /// Whose programs may listen at the address, where that is on this machine.
  let users: Set<UInt32>
  let signal: WakeSignal?

  package static let defaultTimeout = Duration.seconds(5)

  /// Why no router can be asked on this machine, and what to do about it.
  package static var obstacle: String? { HTTPTransfer.obstacle }

  package init(
    _ address: HTTPAddress, of users: Set<UInt32>, timeout: Duration = Self.defaultTimeout,
    signal: WakeSignal? = nil
  ) {
    self.address = address
    self.users = users
    self.timeout = timeout
    self.signal = signal
  }

  /// - Parameter isFinished: whether it is answered even when the agent stops meanwhile: what has begun to change a
  ///   router is finished.
  package func perform(
    _ request: HTTPRequest, isFinished: Bool = false
  ) throws(HTTPFailure) -> HTTPAnswer {
    try HTTPTransfer(address, of: users).perform(
      request, within: timeout, until: isFinished ? nil : signal)
  }
}

extension HTTPRequest {
  /// `GET` below `/node`.
  static func node(_ path: String = "", accept: String = "application/json") -> HTTPRequest {
    HTTPRequest(path: "/node" + path, accept: accept)
  }

  /// Starts or stops Thread: 200.
  static func setThread(enabled: Bool) -> HTTPRequest {
    HTTPRequest(
      method: .put, path: "/node/state", body: Array((enabled ? "\"enable\"" : "\"disable\"").utf8))
  }

  /// 200, 201 for the first one; 409 while Thread runs.
  static func setActive(_ dataset: OperationalDataset) -> HTTPRequest {
    HTTPRequest(
      method: .put, path: "/node/dataset/active", contentType: "text/plain",
      body: Array(dataset.hex.utf8))
  }

  /// 200 or 201.
  static func setPending(_ dataset: OperationalDataset) -> HTTPRequest {
    HTTPRequest(
      method: .put, path: "/node/dataset/pending", contentType: "text/plain",
      body: Array(dataset.hex.utf8))
  }
}
