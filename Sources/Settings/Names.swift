import Glibc
import ThreadkeeperSupport

/// Names and addresses of hosts, as a resolver takes them.
package enum HostName {
  package static func isFit(_ host: String) -> Bool { host.contains(":") ? isIPv6(host) : isNameOrIPv4(host) }

  /// Whether it is an IP address, of either version.
  static func isAddress(_ host: String) -> Bool { isIPv6(host) || bytes(host) != nil }

  /// Whether only this machine reaches the address.
  package static func isLoopback(_ address: String) -> Bool { bytes(address).map { Loopback.contains($0) } ?? false }

  /// Whether it can be the address of one other machine: without a zone, not loopback, also as IPv4 in IPv6, and not
  /// `any`. Which addresses this machine has is not looked up.
  static func isOtherMachine(_ address: String) -> Bool {
    guard let bytes = bytes(address) else { return false }
    if bytes.count == 4 { return bytes[0] != 127 && bytes != [0, 0, 0, 0] }
    // ::, ::1 and ::ffff:0:0/96 (RFC 4291, 2.5); who is meant by the last is written as IPv4.
    return bytes.prefix(10).contains { $0 != 0 } || bytes[10...11].contains { $0 != 0 && $0 != 255 }
  }

  /// Whether it is a name or an IPv4 address with a port after it.
  static func hasPort(_ host: String) -> Bool {
    let parts = host.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 && UInt16(parts[1]) != nil && isNameOrIPv4(String(parts[0]))
  }

  /// RFC 1123, 2.1, with the underscore that home networks use. A last label of digits only is an
  /// address, and must then be a whole one.
  private static func isNameOrIPv4(_ host: String) -> Bool {
    let labels = (host.hasSuffix(".") ? host.dropLast() : host[...]).split(
      separator: ".", omittingEmptySubsequences: false)
    guard (1...253).contains(host.utf8.count),
      labels.allSatisfy({ label in
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy(ASCII.isNameByte)
      })
    else { return false }
    return labels.last?.allSatisfy(\.isNumber) != true || bytes(host)?.count == 4
  }

  /// With a zone for link-local addresses: `fe80::1%eth0`.
  private static func isIPv6(_ host: String) -> Bool {
    let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, parts[1].isEmpty || !parts[1].utf8.allSatisfy(ASCII.isNameByte) { return false }
    return bytes(String(parts[0]))?.count == 16
  }

  /// The 4 or 16 bytes of an address, as in packets.
  private static func bytes(_ address: String) -> [UInt8]? {
    var (four, six) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, address, &four) == 1 { return withUnsafeBytes(of: four) { [UInt8]($0) } }
    if inet_pton(AF_INET6, address, &six) == 1 { return withUnsafeBytes(of: six) { [UInt8]($0) } }
    return nil
  }
}

/// Finds the name that was probably meant.
package enum NearestName {
  /// The candidate with the fewest slips of the pen, if they are few enough for the word.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let word = folded(word)
    // One letter resembles every other.
    guard word.count >= 3 else { return nil }
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let name = folded(candidate)
      var distance = distance(word, name)
      let limit = max(1, min(word.count, name.count) / 3)
      if distance > limit {
        // `user` for `username`, `topic` for `base_topic`.
        guard isPart(word, of: name) || isPart(name, of: word) else { continue }
        distance = limit + 1
      }
      if distance < best?.distance ?? Int.max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// What people mix up without thinking: case, and the sign between words.
  private static func folded(_ name: String) -> [UInt8] {
    name.lowercased().utf8.prefix(64).map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
  }

  private static func isPart(_ part: [UInt8], of whole: [UInt8]) -> Bool {
    whole.starts(with: part) || whole.reversed().starts(with: part.reversed())
  }

  /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        let same = left[row] == right[column]
        var least = min(last[column + 1] + 1, current[column] + 1, last[column] + (same ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          least = min(least, beforeLast[column - 1] + 1)
        }
        current.append(least)
      }
      beforeLast = last
      last = current
    }
    return last[right.count]
  }
}

/// Questions about single characters.
enum ASCII {
  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// What names are made of: letters, digits, `-`, `_`, `.`.
  static func isNameByte(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "-_.".utf8.contains(byte)
  }

  /// What a URL has as it is (RFC 3986, 2.3).
  static func isTokenByte(_ byte: UInt8) -> Bool { isNameByte(byte) || byte == UInt8(ascii: "~") }

  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
