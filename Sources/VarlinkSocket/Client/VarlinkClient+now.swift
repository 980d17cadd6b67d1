// SPDX-License-Identifier: Apache-2.0

extension VarlinkClient {
  /// Calls one method on a connection of its own, and waits in the calling thread: for a program that does nothing else
  /// yet.
  ///
  /// - Parameter limit: the most time for all of it.
  /// - Returns: nil when nobody listens there.
  /// - Throws: what `connect` and `call` throw.
  package static func callNow<Parameters: Encodable, Reply: Decodable>(
    _ method: VarlinkMethod<Parameters, Reply>, _ parameters: Parameters, at path: String,
    within limit: Duration
  ) throws -> Reply? {
    let deadline = ContinuousClock.now + limit
    guard let socket = try TrustedConnection.open(path, by: deadline) else { return nil }
    let connection = ClientConnection(socket, limit: VarlinkLimits().message)
    try connection.send(VarlinkCall.encode(method.fullName, parameters), by: deadline)
    return try VarlinkReply<Reply>(reading: connection.receive(by: deadline)).parameters
  }
}
