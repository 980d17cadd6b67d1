import TestKit
import Testing

@testable import BorderRouterAgent

@Suite("Frames of a WebSocket") struct FramesTests {
  private func text(_ count: Int) -> [UInt8] { [UInt8](repeating: UInt8(ascii: "a"), count: count) }

  private func all(_ bytes: [UInt8], by part: Int = .max) throws -> [Frames.Incoming] {
    var reader = Frames()
    var found: [Frames.Incoming] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      reader.take(rest.prefix(part))
      rest = rest.dropFirst(part)
      while let next = try reader.next() { found.append(next) }
    }
    return found
  }

  private func trouble(_ bytes: [UInt8]) -> HomeAssistantTrouble? {
    do {
      _ = try all(bytes)
      return nil
    } catch { return error as? HomeAssistantTrouble }
  }

  @Test("A frame of the client is whole, and masked with its key (RFC 6455, section 5.7)") func masked() {
    #expect(
      Frames.masked(.text, Array("Hello".utf8), mask: [0x37, 0xFA, 0x21, 0x3D]) == [
        0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58,
      ])
    #expect(Frames.masked(.pong, [], mask: [1, 2, 3, 4]) == [0x8A, 0x80, 1, 2, 3, 4])
  }

  @Test("Lengths have 7, 16 or 64 bits", arguments: [0, 1, 125, 126, 65_535, 65_536, 1 << 20]) func lengths(count: Int)
    throws
  {
    #expect(try all(WebSocketPeer.frame(text(count))) == [.message(text(count))])
    let own = Frames.masked(.text, text(count), mask: [0, 0, 0, 0])
    let head: [UInt8] =
      switch count {
      case ...125: [0x81, 0x80 | UInt8(count)]
      case ...65_535: [0x81, 0xFE, UInt8(count >> 8), UInt8(count & 0xFF)]
      default: [0x81, 0xFF, 0, 0, 0, 0, 0, UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
      }
    #expect(own == head + [0, 0, 0, 0] + text(count))
  }

  @Test("Fragments make one message, also with pings and pongs between them", arguments: [1, 7, 1_000]) func fragments(
    part: Int
  ) throws {
    let bytes =
      WebSocketPeer.frame(text(200), isLast: false) + WebSocketPeer.frame([1, 2], opcode: 9)
      + WebSocketPeer.frame(text(3), opcode: 0, isLast: false) + WebSocketPeer.frame([], opcode: 10)
      + WebSocketPeer.frame([], opcode: 0) + WebSocketPeer.frame(text(2))
      + WebSocketPeer.frame([0x03, 0xE8], opcode: 8)
    #expect(try all(bytes, by: part) == [.ping([1, 2]), .message(text(203)), .message(text(2)), .close])
  }

  @Test(
    "What no server may send is no frame",
    arguments: [
      // A reserved bit (a compressed frame), a masked one, binary, an unknown opcode.
      [0xC1, 0x00], [0x81, 0x80, 0, 0, 0, 0], [0x82, 0x00], [0x83, 0x00],
      // A control frame that is long, or a fragment.
      [0x89, 0x7E, 0, 126], [0x09, 0x00],
      // A fragment without a beginning, and a message within another.
      [0x80, 0x00], [0x01, 0x00, 0x81, 0x00],
    ] as [[UInt8]]) func wrong(bytes: [UInt8])
  { #expect(trouble(bytes) == .noFrame) }

  @Test("A message of more than a megabyte is too large, before it has come") func tooLarge() {
    let head = WebSocketPeer.frame(text(Frames.limit + 1)).prefix(10)
    #expect(trouble(Array(head)) == .tooLarge)
    #expect(trouble([0x81, 0x7F] + [UInt8](repeating: 0xFF, count: 8)) == .tooLarge)
    let half = text(Frames.limit / 2 + 1)
    #expect(trouble(WebSocketPeer.frame(half, isLast: false) + WebSocketPeer.frame(half, opcode: 0)) == .tooLarge)
  }

  @Test("It is known whether the end of the connection cuts a message") func cut() throws {
    var reader = Frames()
    #expect(!reader.isWithinFrame)
    reader.take([0x81])
    #expect(try reader.next() == nil && reader.isWithinFrame)
    reader.take([0x01, 0x61])
    #expect(try reader.next() == .message([0x61]) && !reader.isWithinFrame)
    reader.take([0x01, 0x01, 0x61])
    #expect(try reader.next() == nil && reader.isWithinFrame)
  }
}

@Suite("Where Home Assistant is") struct HomeAssistantAddressTests {
  @Test(
    "http, https, ws and wss, with and without a port",
    arguments: [
      ("http://homeassistant.local:8123", "http://homeassistant.local:8123", "/api/websocket"),
      ("http://ha.local/", "http://ha.local", "/api/websocket"),
      ("ws://192.168.1.5:8123", "http://192.168.1.5:8123", "/api/websocket"),
      ("https://ha.example.com", "https://ha.example.com", "/api/websocket"),
      ("wss://ha.example.com:443/", "https://ha.example.com", "/api/websocket"),
      ("HTTPS://ha.example.com:8443", "https://ha.example.com:8443", "/api/websocket"),
      ("http://[fd00::5]:8123", "http://[fd00::5]:8123", "/api/websocket"),
      ("http://[fd00::5]", "http://[fd00::5]", "/api/websocket"),
      ("ws://supervisor/core/websocket", "http://supervisor", "/core/websocket"),
    ]) func read(text: String, shown: String, path: String) throws
  {
    let address = try #require(HomeAssistantAddress(text))
    #expect("\(address)" == shown && address.path == path)
    #expect(address.isTLS == shown.hasPrefix("https"))
  }

  @Test(
    "Anything else is none",
    arguments: [
      "", "ha.local", "ftp://ha.local", "http://", "http://anna:secret@ha.local", "http://ha.local:0",
      "http://ha.local/lovelace/0", "http://ha.local?x", "http://ha.local/a b/websocket",
      "http://ha.local/x\r\nHost: y/websocket",
    ]) func wrong(text: String)
  { #expect(HomeAssistantAddress(text) == nil) }
}
