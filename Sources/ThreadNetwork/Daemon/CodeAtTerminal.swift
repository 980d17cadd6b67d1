@_implementationOnly import LocalAPI

/// A code by which others get the credentials of a network, for the person at this program's terminal. The daemon gives
/// it to its own user and root only, and no call returns it.
extension DaemonSocket {
  private struct Call: Encodable {
    let operation = "\(ShareNetwork.self)"
    let parameters: ShareNetwork
  }

  private struct Answer: Decodable { let reply: ShareNetwork.Reply }

  /// - Returns: false when nobody listens there, or whoever does gives this user none.
  /// - Throws: `THError`, `CancellationError`.
  func showCode(_ request: ThreadRequest) async throws -> Bool {
    let timeout = Duration.seconds(60)
    let call = Call(parameters: ShareNetwork(home: request.home, extPanId: request.network?.description))
    do {
      let client = try await VarlinkClient.connect(to: path, within: timeout, admittingOthers: admitsOthers)
      guard let client else { return false }
      try Task.checkCancellation()
      let method = VarlinkMethod<Call, Answer>("io.threadkeeper.Admin", "Perform", for: .owner)
      let reply = try await client.call(method, call, within: timeout).reply
      let name = reply.networkName ?? "the network"
      TerminalConsent.show(HarmlessText("\(reply.code) is the code of \(name), for \(reply.minutes) minutes").text)
      return true
    } catch let error as SocketError {
      if error.reason == .abandoned { throw CancellationError() }
      throw THError(error, at: path)
    } catch let error as VarlinkError {
      guard let failure = AnswerFailure(error) else { return false }
      throw THError(failure, to: request.command)
    }
  }
}
