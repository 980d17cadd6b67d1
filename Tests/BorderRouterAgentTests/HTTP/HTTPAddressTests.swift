import Testing

@testable import BorderRouterAgent

@Suite("The address of a REST interface") struct HTTPAddressTests {
  @Test(
    "Host and port are read, and the port is 8081 unless given",
    arguments: [
      ("http://127.0.0.1:8081", "http://127.0.0.1:8081"), ("http://hub.local", "http://hub.local:8081"),
      ("hub.local:80/", "http://hub.local:80"), ("HTTP://[::1]:9000/", "http://[::1]:9000"),
    ]) func read(_ text: String, _ shown: String)
  { #expect(HTTPAddress(text)?.description == shown) }

  @Test("Loopback is 127.0.0.0/8, ::1, localhost and what leads there, and no other name") func loopback() {
    for text in [
      "127.0.0.1", "127.9.9.9:80", "[::1]", "localhost", "LOCALHOST:1", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]",
    ] { #expect(HTTPAddress(text)?.isLoopback == true, "\(text)") }
    for text in [
      "hub.local", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[fe80::1]", "[::ffff:10.0.0.1]",
      "127", "127.1",
    ] { #expect(HTTPAddress(text)?.isLoopback == false, "\(text)") }
  }

  @Test(
    "What is no plain address is refused",
    arguments: [
      "", "https://hub", "http://user:secret@hub", "http://hub/api", "http://hub:0", "http://hub:99999",
      "http://hub?x=1", "http://[::1", "http://hub:-1", "http://hu b", "http://hub\r\nX: y", "unix:///run/otbr",
    ]) func refused(_ text: String)
  { #expect(HTTPAddress(text) == nil) }
}
