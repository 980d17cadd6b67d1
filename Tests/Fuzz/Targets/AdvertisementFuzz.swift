import Bridge
import ServiceDiscovery

/// Records of border routers on the local network: the instance name, then the strings of the TXT record, each with its
/// length before it, as in DNS (RFC 1035, section 3.3).
enum AdvertisementFuzz {
  static func check(_ bytes: [UInt8]) throws {
    var input = InputReader(bytes)
    let name = input.text()
    var entries: [[UInt8]] = []
    while !input.isAtEnd { entries.append(input.counted()) }
    let text = TXTRecord(entries: entries)
    try expect((0...entries.count).contains(text.refused), "no more is refused than came")
    try checkValues(of: text, entries)
    let record = ServiceRecord(name: name, host: "router.local", port: 49_152, text: text)
    guard let router = BorderRouterAdvertisement(record) else {
      let hasID = text["id"]?.count == 16 || text["xa"]?.count == 8
      let isZero = [text["id"], text["xa"]].allSatisfy { $0?.allSatisfy { $0 == 0 } ?? true }
      let sizes = [text["id"]?.count ?? 0, text["xa"]?.count ?? 0]
      return try expect(!hasID || isZero || sizes != [16, 8], "a router with an id is listed")
    }
    try expect((1...3).contains(router.agents.count), "a router has an id")
    try expect(Set(router.agents).count == router.agents.count, "and each of its ids once")
    let texts = [router.name, router.vendor, router.model, router.networkName, router.threadVersion]
    for case let text? in texts {
      try expect((1...64).contains(text.utf8.count), "a text is short")
      try expect(
        !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) },
        "a text has no control character")
    }
    try expect(router.networkName?.utf8.count ?? 0 <= 16, "a network name has at most 16 bytes")
    try expect(router.activeSeconds ?? 0 < 1 << 48, "seconds have 48 bits")
    try expect(router.offMeshPrefix == nil || text["omr"]?.first == 64, "a prefix has 64 bits")
  }

  /// RFC 6763, section 6.4: the first entry of a key counts, in upper or lower case.
  private static func checkValues(of text: TXTRecord, _ entries: [[UInt8]]) throws {
    for key in ["id", "xa", "xp", "nn", "vn", "mn", "tv", "at", "pt", "sb", "omr"] {
      let first = entries.first { entry in
        let name = entry.prefix { $0 != UInt8(ascii: "=") }
        return String(decoding: name, as: UTF8.self).lowercased() == key && entry.count <= 255
      }
      guard let value = text[key] else { continue }
      let equals = first?.firstIndex(of: UInt8(ascii: "=")) ?? 0
      try expect(first.map { Array($0[(equals + 1)...]) } == value, "the first value counts: \(key)")
      try expect(text.contains(key) && text[key.uppercased()] == value, "case does not matter")
    }
  }
}
