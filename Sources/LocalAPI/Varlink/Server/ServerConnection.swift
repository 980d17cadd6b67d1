import SodiumCrypto

/// One connection of a server, which its own thread runs: it reads a call, performs it, writes the replies, and reads
/// the next.
///
/// | the connection | ends with |
/// |---|---|
/// | waits for a call | the end of the caller's half; `limits.silence`; a malformed message; the loss of its place |
/// | performs one | nothing, but what the handler waits for ends with the caller (`VarlinkCaller.wait`) |
/// | writes a reply | `limits.sending`; the end of both halves; the loss of its place |
struct ServerConnection {
  let socket: Int32
  let caller: VarlinkCaller
  let place: Int
  let owner: ServerConnections

  /// Waits in system calls until it has ended.
  func run() {
    // How it ends is the same for every reason: a protocol without unasked messages has no words for them.
    let isSilent = (try? serve()) != nil
    // The stack of a thread that has ended is kept for the next one.
    wipeDeadStack()
    if isSilent, caller.isEvicted { owner.reject(socket, owner.limits.noPlace) }
    caller.close()
    owner.close(socket)
  }

  private func serve() throws {
    var frames = VarlinkFrames(limit: owner.limits.message)
    var isFirst = true
    while let message = try caller.receive(&frames), owner.beginCall(at: place) {
      // Before it is parsed: a flood costs as little as can be.
      if let refusal = owner.service.refusal(ofCallBy: caller, isFirst: isFirst) {
        return try caller.send(refusal.encoded())
      }
      isFirst = false
      try perform(try VarlinkCall(reading: message))
      // The call may have a secret, and the connection may stay.
      wipeDeadStack()
      owner.endCall(at: place)
    }
  }

  private func perform(_ call: VarlinkCall) throws {
    let (isStream, user) = (call.kind == .more, caller.peer.user)
    guard !isStream || owner.beginStream(of: user) else {
      guard let error = owner.limits.noPlace else { throw SocketError.closed }
      return try caller.send(error.encoded())
    }
    let last = owner.service.answer(call, from: caller)
    if isStream { owner.endStream(of: user) }
    guard call.kind != .oneway else { return }
    let limit = owner.limits.message
    try caller.send(last.count <= limit ? last : owner.service.reply(to: VarlinkFrames.tooLarge(limit)))
  }
}
