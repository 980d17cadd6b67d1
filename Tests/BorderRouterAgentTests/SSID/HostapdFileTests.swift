import Foundation
import TestKit
import Testing

@testable import BorderRouterAgent

@Suite("The configuration file of hostapd") struct HostapdFileTests {
  private static let sample = """
    # The house
    driver=nl80211
    interface=wlan0
    hw_mode=a
    #ssid=commented
    ssid=home = wifi\u{20}
    wpa=2
    wpa_passphrase=never shown
    bss=wlan0_guest
    bssid=02:00:5e:10:20:32
    ssid2="guests "of" ours"
    bss=wlan0_iot
    ssid=old
    ssid2=63c3a9
    bss=wlan0_lab
    ssid2=P"lab\\x20\\"5\\"\\\\ \\303\\251"
    bss=wlan0_none
    wpa=2

    """

  private func name(_ text: String, _ bss: String? = nil) throws -> String? {
    if case .ssid(let ssid) = try HostapdFile(Array(text.utf8)).reading(bss, of: "file") { return "\(ssid)" }
    return nil
  }

  @Test("Each BSS has its own name, in each way to write it; the first one unless another is named") func sections()
    throws
  {
    #expect(try name(Self.sample) == "home = wifi ")
    #expect(try name(Self.sample, "wlan0") == "home = wifi ")
    #expect(try name(Self.sample, "wlan0_guest") == #"guests "of" ours"#)
    #expect(try name(Self.sample, "wlan0_iot") == "cé")
    #expect(try name(Self.sample, "wlan0_lab") == #"lab "5"\ é"#)
    #expect(try name(Self.sample, "wlan0_none") == nil)
    #expect(throws: SSIDTrouble.noSuchBSS("wlan9", file: "file")) { try name(Self.sample, "wlan9") }
  }

  @Test("Without a name, or with one that hostapd does not take, there is none") func none() throws {
    for text in ["", "interface=wlan0\n"] { #expect(try name(text) == nil, "\(text)") }
    #expect(try name("ssid=a\r\nwpa=2\r\n") == "a")
    #expect(throws: SSIDTrouble.tooLong(33)) { try name("ssid=" + String(repeating: "a", count: 33)) }
  }

  /// What hostapd 2.10 makes of a line, as `hostapd_cli status` shows it; nil: hostapd does not start.
  static let recorded: [(line: String, bytes: [UInt8]?)] = [
    ("ssid=home = wifi ", Array("home = wifi ".utf8)), ("ssid=a#b", Array("a#b".utf8)), (" ssid=a", nil),
    ("ssid=", nil), ("ssid=" + String(repeating: "1", count: 33), nil), (#"ssid2="a"b""#, Array("a\"b".utf8)),
    (#"ssid2="a"x"#, nil), (#"ssid2="a"#, nil), (#"ssid2="""#, nil), ("ssid2=63c3a9", [0x63, 0xC3, 0xA9]),
    ("ssid2=abc", nil), ("ssid2=zz", nil), (#"ssid2=P"a\q""#, Array("aq".utf8)), (#"ssid2=P"a\777""#, [0x61, 0xFF]),
    (#"ssid2=P"a\x""#, [0x61]), (#"ssid2=P"a\x4""#, [0x61, 0x04]), (#"ssid2=P"a\x4g""#, [0x61, 0x04, 0x67]),
    (#"ssid2=P"a"x"#, nil), (#"ssid2=P"a\8""#, Array("a8".utf8)), (#"ssid2=P"\1234""#, Array("S4".utf8)),
    (#"ssid2=P"\018""#, [0x01, 0x38]), (#"ssid2=P"a\e\n\r\t""#, [0x61, 0x1B, 0x0A, 0x0D, 0x09]),
    (#"ssid2=P"a\""#, [0x61]), (#"ssid2=P"a\000b""#, [0x61, 0, 0x62]),
  ]

  @Test("A line is read as hostapd reads it", arguments: recorded) func asHostapd(line: String, bytes: [UInt8]?) throws
  {
    let file = HostapdFile(Array((line + "\n").utf8))
    let read = file.bsss.first?.ssid
    if let bytes {
      #expect(read == bytes)
    } else {
      // An SSID has 1 to 32 bytes.
      #expect(read.map { $0.isEmpty || $0.count > SSID.mostBytes } ?? true)
    }
  }

  @Test("A network whose name is not broadcast has none; each BSS has a setting of its own") func hidden() throws {
    for value in ["1", "2"] { #expect(try name("ssid=secret\nignore_broadcast_ssid=\(value)\n") == nil) }
    #expect(try name("ignore_broadcast_ssid=0\nssid=open\n") == "open")
    let two = "interface=wlan0\nssid=secret\nignore_broadcast_ssid=1\nbss=wlan0_1\nssid=guests\n"
    #expect(try name(two) == nil)
    #expect(try name(two, "wlan0_1") == "guests")
  }

  @Test("Escapes at the end of a name, and bytes of any kind, do no harm") func hostile() throws {
    for text in [#"ssid2=P"\"#, #"ssid2=P"a\""#, #"ssid2=P"\x""#, #"ssid2=P"\777""#, "=", "ssid"] { _ = try name(text) }
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      let bytes = (0..<64).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
      _ = try? HostapdFile(Array("ssid2=P\"".utf8) + bytes).reading(nil, of: "file")
    }
  }

  @Test("A file that is not there, or is none, is named") func noFile() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("hostapd.conf")
    #expect(throws: SSIDTrouble.unreadable(file: path, code: ENOENT)) { try HostapdFile(path: path) }
    try Data("ssid=one\n".utf8).write(to: URL(fileURLWithPath: path))
    let reading = try HostapdFile(path: path).reading(nil, of: path)
    #expect(try reading == .ssid(#require(try SSID(Array("one".utf8)))))
    #expect(throws: SSIDTrouble.notAFile(directory.path)) { try HostapdFile(path: directory.path) }
  }
}
