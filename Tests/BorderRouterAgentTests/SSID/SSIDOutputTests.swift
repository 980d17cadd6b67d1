// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BorderRouterAgent

/// What programs print, as they print it.
@Suite("SSIDs in what programs print")
struct SSIDOutputTests {
  private func text(_ reading: SSIDReading) -> String? {
    if case .ssid(let ssid) = reading { "\(ssid)" } else { nil }
  }

  // MARK: SSIDs

  @Test("What is no UTF-8, and each control character, becomes U+FFFD; emoji stay whole")
  func anyBytes() throws {
    #expect(try SSID([0x63, 0xE9, 0x20, 0xFF])?.description == "c\u{FFFD} \u{FFFD}")
    #expect(try SSID(Array("a\nb\u{1B}[31m\u{202E}c".utf8))?.description.contains("\n") == false)
    #expect(try SSID([0x61, 0x00])?.description == "a\u{FFFD}")
    #expect(try SSID(Array("👩‍🚀 Café".utf8))?.description == "👩‍🚀 Café")
    #expect(try SSID(Array(" home ".utf8))?.description == " home ")
  }

  @Test("No bytes, and zeros only, are a hidden network; more than 32 bytes are no SSID")
  func bounds() throws {
    #expect(try SSID([]) == nil)
    #expect(try SSID([UInt8](repeating: 0, count: 32)) == nil)
    #expect(try SSID([UInt8](repeating: 0x61, count: 32)) != nil)
    #expect(throws: SSIDTrouble.tooLong(33)) { try SSID([UInt8](repeating: 0x61, count: 33)) }
  }

  // MARK: The command

  @Test("The first line of a command counts, with its blanks and without its end")
  func command() throws {
    for (output, expected) in [
      ("home-wifi\n", "home-wifi"), ("home-wifi", "home-wifi"), ("a b \r\nnoise\n", "a b "),
      ("", nil), ("\nhome\n", nil), ("\r\n", nil),
    ] {
      #expect(try text(CommandOutput.reading(Array(output.utf8))) == expected, "\(output)")
    }
    #expect(throws: SSIDTrouble.tooLong(40)) {
      try CommandOutput.reading([UInt8](repeating: 0x61, count: 40))
    }
  }

  // MARK: nmcli

  private static let scanned = """
    no:4E656967686275757273:wlan0
    no::wlan0
    yes:686F6D653A77696669205C36:wlan0
    no:FFFE:wlan0
    yes:63616D70:wlan1

    """

  @Test("The active network of nmcli is read from its bytes, of the interface that is asked for")
  func nmcli() throws {
    let output = Array(Self.scanned.utf8)
    #expect(try text(NMCLIOutput.reading(output, interface: nil)) == "home:wifi \\6")
    #expect(try text(NMCLIOutput.reading(output, interface: "wlan1")) == "camp")
    #expect(try NMCLIOutput.reading(output, interface: "wlan2") == .none)
    #expect(try NMCLIOutput.reading([], interface: nil) == .none)
  }

  @Test("A hidden network of nmcli is none, and the next active one counts")
  func nmcliHidden() throws {
    #expect(try NMCLIOutput.reading(Array("yes::wlan0\n".utf8), interface: nil) == .none)
    #expect(try NMCLIOutput.reading(Array("yes:--:wlan0\n".utf8), interface: nil) == .none)
    let two = Array("yes:0000:wlan0\nyes:6162:wlan1\n".utf8)
    #expect(try text(NMCLIOutput.reading(two, interface: nil)) == "ab")
  }

  @Test("Escaped separators are part of a value, and other lines are named as what they are")
  func nmcliFields() throws {
    func fields(_ line: String) -> [String] {
      NMCLIOutput.fields(of: Array(line.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(fields(#"yes:61:wlan0\:1"#) == ["yes", "61", "wlan0:1"])
    #expect(fields(#"a\\:b\:c:"#) == [#"a\"#, "b:c", ""])
    #expect(try text(NMCLIOutput.reading(Array(#"yes:61:w\:1"#.utf8), interface: "w:1")) == "a")
    let odd = Array("no:a:b:c\nyes:6162:wlan1\n".utf8)
    #expect(try text(NMCLIOutput.reading(odd, interface: nil)) == "ab", "of a neighbour")
    for wrong in ["yes:home", "yes:zz:wlan0", "yes:616:wlan0", "Error: no", "yes:61:wlan0:more"] {
      #expect(throws: SSIDTrouble.malformed(tool: "nmcli"), "\(wrong)") {
        try NMCLIOutput.reading(Array(wrong.utf8), interface: nil)
      }
    }
  }

  // MARK: iw

  private static let station = """
    Connected to 02:00:5e:10:20:30 (on wlan0)
    \tSSID: Caf\\xc3\\xa9 \\x5c6\\x20
    \tfreq: 5180.0
    \tRX: 91244 bytes (512 packets)
    \tsignal: -47 dBm

    """

  private static let accessPoint = """
    Interface wlan0-ap
    \tifindex 5
    \twdev 0x2
    \taddr 02:00:5e:10:20:31
    \tssid home wifi
    \ttype AP
    \tchannel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz

    """

  @Test("The escapes of iw are undone")
  func iw() throws {
    #expect(
      try IWOutput.ssid(in: Array(Self.station.utf8), of: .link)?.description == "Café \\6 ")
    #expect(
      try IWOutput.ssid(in: Array(Self.accessPoint.utf8), of: .info)?.description == "home wifi")
    #expect(try IWOutput.ssid(in: Array("Not connected.\n".utf8), of: .link) == nil)
    #expect(try IWOutput.ssid(in: Array("\tSSID: \\x00\\x00\\x00\n".utf8), of: .link) == nil)
    #expect(try IWOutput.ssid(in: Array("\tSSID: \n".utf8), of: .link) == nil)
    // The name of a network cannot stand for another fact.
    #expect(
      try IWOutput.ssid(in: Array("\tSSID: a\\x0assid b\n".utf8), of: .link)?.description
        == "a\u{FFFD}ssid b")
  }

  @Test("A backslash that begins no escape is a mistake of what iw prints")
  func iwMalformed() {
    for wrong in [#"a\"#, #"a\x"#, #"a\x4"#, #"a\xg0"#, #"a\n"#] {
      #expect(throws: SSIDTrouble.malformed(tool: "iw"), "\(wrong)") {
        try IWOutput.ssid(in: Array("\tSSID: \(wrong)\n".utf8), of: .link)
      }
    }
  }

  @Test("An interface has a name that no program takes for an option")
  func interfaces() {
    for good in ["wlan0", "wlp2s0", "phy0-ap0", "wlan0.1"] { #expect(SSIDSource.isInterface(good)) }
    for bad in ["", "--help", "a b", "wlan0/x", "0123456789abcdef", "wlän0", "..", "a\n"] {
      #expect(!SSIDSource.isInterface(bad), "\(bad)")
    }
  }
}
