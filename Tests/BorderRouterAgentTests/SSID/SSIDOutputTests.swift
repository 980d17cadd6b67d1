import Testing

@testable import BorderRouterAgent

/// What commands print: the lines for iw and nmcli are run by `SSIDAgentTests`.
@Suite("SSIDs in what a command prints") struct SSIDOutputTests {
  private func text(_ reading: SSIDReading) -> String? { if case .ssid(let ssid) = reading { "\(ssid)" } else { nil } }

  // MARK: SSIDs

  @Test("What is no UTF-8, and each control character, becomes U+FFFD; emoji stay whole") func anyBytes() throws {
    #expect(try SSID([0x63, 0xE9, 0x20, 0xFF])?.description == "c\u{FFFD} \u{FFFD}")
    #expect(try SSID(Array("a\nb\u{1B}[31m\u{202E}c".utf8))?.description.contains("\n") == false)
    #expect(try SSID([0x61, 0x00])?.description == "a\u{FFFD}")
    #expect(try SSID(Array("👩‍🚀 Café".utf8))?.description == "👩‍🚀 Café")
    #expect(try SSID(Array(" home ".utf8))?.description == " home ")
  }

  @Test("No bytes, and zeros only, are a hidden network; more than 32 bytes are no SSID") func bounds() throws {
    #expect(try SSID([]) == nil)
    #expect(try SSID([UInt8](repeating: 0, count: 32)) == nil)
    #expect(try SSID([UInt8](repeating: 0x61, count: 32)) != nil)
    #expect(throws: SSIDTrouble.tooLong(33)) { try SSID([UInt8](repeating: 0x61, count: 33)) }
  }

  // MARK: The command

  @Test("The first line of a command counts, with its blanks and without its end") func command() throws {
    for (output, expected) in [
      ("home-wifi\n", "home-wifi"), ("home-wifi", "home-wifi"), ("a b \r\nnoise\n", "a b "), ("", nil),
      ("\nhome\n", nil), ("\r\n", nil),
    ] { #expect(try text(SSIDReading(firstLineOf: Array(output.utf8))) == expected, "\(output)") }
    #expect(throws: SSIDTrouble.tooLong(40)) { try SSIDReading(firstLineOf: [UInt8](repeating: 0x61, count: 40)) }
  }
}
