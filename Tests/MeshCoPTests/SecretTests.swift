import MeshCoP
import Testing
import ThreadDataset

/// No secret is in what a log or a debugger's `dump` would show.
struct SecretTests {
  @Test("Nothing that is printed of a conversation has a secret", arguments: RecordedConversation.all) func printed(
    _ recorded: RecordedConversation
  ) throws {
    let names = ["x1", "x2", "v_of_x1", "v_of_x2", "v_of_client_key_exchange"]
    var secrets = names.map { recorded.value($0) } + [recorded.secretBytes.withUnsafeBytes { Array($0) }]
    if let active = recorded.answers.first.flatMap({ try? OperationalDataset(hex: $0.payload) }) {
      secrets += [active.networkKey?.bytes, active.pskc?.bytes].compactMap { $0 }
    }
    var (client, _) = try recorded.client(answeredBy: 0)
    var texts: [String] = []
    for datagram in recorded.datagrams.filter(\.isFromRouter) {
      let events = client.receive(datagram.bytes, at: RecordedConversation.beginning)
      for value in [client, events] as [Any] {
        var text = "\(value) \(String(reflecting: value)) "
        dump(value, to: &text)
        texts.append(text)
      }
    }
    let hasBytes = { (bytes: [UInt8]) in
      // As `dump` has them: each in a line.
      let (hex, numbers) = (Hexadecimal.encode(bytes), bytes.map(String.init).joined(separator: " "))
      return texts.contains { text in
        text.lowercased().contains(hex) || text.split { !$0.isNumber }.joined(separator: " ").contains(numbers)
      }
    }
    for secret in secrets { #expect(!hasBytes(secret)) }
    #expect(hasBytes(recorded.value("client_random")), "what is no secret is found")
  }
}
