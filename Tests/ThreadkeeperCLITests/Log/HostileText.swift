// SPDX-License-Identifier: Apache-2.0

/// What somebody might call a topic or a router to harm whoever reads the log. Tests take them
/// by number: the name of a test case is printed as it stands.
enum HostileText {
  static let samples = [
    "a\n2026-11-21T04:36:00.123Z info    all is well",
    "a\r\nb", "a\u{85}b", "a\u{2028}b\u{2029}c", "a\u{0B}b\u{0C}c",
    "\u{1B}[2J\u{1B}[1;1Hgone", "\u{9B}31m", "a\u{0}b", "\u{7F}\u{8}\u{8}",
    #"","level":"critical","x":""#, #"\"#, #"\n"#, #"a\"b"#, "a=b c=d", "",
    "\u{202E}gnp.exe", "\u{2066}x\u{2069}", "\u{FEFF}x", "\u{061C}\u{200F}",
    "Wohnzimmer – Küche 🏠👨‍👩‍👧", "{\"a\":[1,2", "\u{10FFFF}\u{E000}",
    String(repeating: "\n", count: 100),
  ]

  /// What no line may hold as it stands.
  static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control
      || scalar.properties.generalCategory == .lineSeparator
      || scalar.properties.generalCategory == .paragraphSeparator
      || ("\u{202A}"..."\u{202E}").contains(scalar)
      || ("\u{2066}"..."\u{2069}").contains(scalar)
  }
}
