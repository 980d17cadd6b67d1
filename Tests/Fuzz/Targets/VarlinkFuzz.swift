import LocalAPI
import ThreadRequests
import Wire

/// Messages of the local API: however the bytes are split on their way, the same messages come. The first byte is the
/// largest message, the second the size of the pieces.
enum VarlinkFuzz {
  static func check(_ bytes: [UInt8]) throws {
    var input = InputReader(bytes)
    let limit = Int(input.byte()) * 8
    let size = Int(input.byte()) % 16 + 1
    let stream = input.remainder()
    let whole = messages(of: [stream[...]], limit: limit)
    let pieces = stride(from: 0, to: stream.count, by: size).map { stream[$0...].prefix(size) }
    try expect(messages(of: pieces, limit: limit) == whole, "pieces make the same messages")
    for message in whole.messages {
      try expect(message.count <= limit && !message.contains(0), "a message is within its limit")
      try checkCall(message)
      try checkReply(message)
    }
  }

  private struct Messages: Equatable {
    var messages: [[UInt8]] = []
    var isTooLarge = false
  }

  private static func messages(of parts: [ArraySlice<UInt8>], limit: Int) -> Messages {
    var frames = VarlinkFrames(limit: limit)
    var result = Messages()
    do {
      for part in parts {
        frames.append(part)
        while let message = try frames.next() { result.messages.append(message) }
      }
    } catch { result.isTooLarge = true }
    return result
  }

  private static func checkCall(_ message: [UInt8]) throws {
    guard let call = try? VarlinkCall(reading: message) else { return }
    do {
      let request = try call.request()
      let again = try need("the parameters of a call read again") {
        try VarlinkCall(reading: VarlinkCall.encode(call.method, request))
      }
      try expect(try again.request().json() == request.json(), "and are the same")
      let names = [again.interface, again.name].map { Array($0.utf8) }
      // A name without a dot gets one, and an empty interface before it.
      try expect(
        call.interface.isEmpty || names == [call.interface, call.name].map { Array($0.utf8) }, "a call keeps its name")
    } catch let error as VarlinkError {
      let reply = error.encoded()
      try expect(!reply.isEmpty && !reply.contains(0), "an error can be sent")
    }
  }

  private static func checkReply(_ message: [UInt8]) throws {
    do {
      let reply = try VarlinkReply<AnswerData>(reading: message)
      let again = try need("a reply reads again") { try VarlinkReply<AnswerData>(reading: reply.encoded()) }
      try expect(again.parameters == reply.parameters && again.continues == reply.continues, "and is the same")
    } catch let error as VarlinkError {
      try expect(!error.encoded().isEmpty, "an error that came can be sent")
    } catch is SocketError {}
  }
}
