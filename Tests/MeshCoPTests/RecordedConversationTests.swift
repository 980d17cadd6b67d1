import BorderAgentDouble
import MeshCoP
import SodiumCrypto
import Testing
import ThreadDataset

/// The conversations were held with a real border router. With the client's random values and the router's datagrams,
/// all that the client sends has to be the same again.
struct RecordedConversationTests {
  @Test("With its random values, a recorded client sends the same bytes again", arguments: RecordedConversation.all)
  func replayed(_ recorded: RecordedConversation) throws {
    let (sent, result) = try recorded.replay()
    let expected = recorded.datagrams.filter { !$0.isFromRouter }.map(\.bytes)
    guard recorded.answers.count != 1 else {
      // That client asked one question. This one asks the second where it said goodbye.
      #expect(sent.dropLast() == expected.dropLast() && result == nil)
      return
    }
    #expect(sent == expected)
    switch result {
    case .failure(let error)?: #expect(error == .refused && recorded.ends_with == "alert 2 20")
    case .success(let reading)?:
      #expect(reading.active?.hex == recorded.answers[0].payload)
      #expect(reading.pending?.hex ?? "" == recorded.answers[1].payload)
    case nil: Issue.record("it did not end")
    }
  }
}

extension RecordedConversation {
  /// The conversation up to its `count`-th datagram from the router, and what is sent until then.
  func client(answeredBy count: Int) throws -> (client: Conversation, sent: [[UInt8]]) {
    let now = Self.beginning
    var client = try Conversation(
      secret: secretBytes, random: KnownRandom(handshakeValues + questionValues).fill, at: now)
    var sent = client.start(at: now).datagrams
    for datagram in datagrams.filter(\.isFromRouter).prefix(count) {
      sent += client.receive(datagram.bytes, at: now).datagrams
    }
    return (client, sent)
  }

  func replay() throws -> (sent: [[UInt8]], result: Result<RouterReading, BorderAgentError>?) {
    let fromRouter = datagrams.filter(\.isFromRouter)
    var (client, sent) = try client(answeredBy: fromRouter.count - 1)
    let last = client.receive(fromRouter[fromRouter.count - 1].bytes, at: Self.beginning)
    sent += last.datagrams
    return (sent, last.result)
  }

  static let beginning = ContinuousClock.now

  /// Token and message id of each question.
  private var questionValues: [UInt8] {
    (1...2).flatMap { value("coap_token_\($0)", 2) + value("coap_message_id_\($0)", 2) }
  }
}

extension [Conversation.Event] {
  var datagrams: [[UInt8]] { compactMap { if case .send(let datagram) = $0 { datagram } else { nil } } }
  var result: Result<RouterReading, BorderAgentError>? {
    compactMap { if case .ended(let result) = $0 { result } else { nil } }.first
  }
}
