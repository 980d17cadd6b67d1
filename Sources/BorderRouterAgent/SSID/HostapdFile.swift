import Glibc
import ThreadDataset

/// A configuration file of hostapd, as far as it names networks: `interface=` begins the first BSS, each `bss=` a
/// further one. `ssid=` has the bytes as they stand; `ssid2=` has them as `"…"`, as `P"…"` with escapes, or in hex. Of
/// several in one BSS the last counts. Everything else is skipped; it may hold passwords.
struct HostapdFile {
  static let mostBytes = 1 << 20

  struct BSS {
    var interface: String
    /// The value of the last `ssid=` or `ssid2=`; nil: there is none, or one that hostapd takes for a mistake.
    var ssid: [UInt8]?
    /// Its beacons do not have the name (`ignore_broadcast_ssid`).
    var isHidden = false
  }

  private(set) var bsss = [BSS(interface: "")]

  init(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard line.first != UInt8(ascii: "#"), let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
      var value = line[(equals + 1)...]
      if value.last == UInt8(ascii: "\r") { value.removeLast() }
      let last = bsss.count - 1
      var text: String { String(decoding: value, as: UTF8.self) }
      switch String(decoding: line[..<equals], as: UTF8.self) {
      case "interface": bsss[0].interface = text
      case "bss": bsss.append(BSS(interface: text))
      case "ssid": bsss[last].ssid = Array(value)
      case "ignore_broadcast_ssid": bsss[last].isHidden = value.contains { (0x31...0x39).contains($0) }
      case "ssid2": bsss[last].ssid = Self.ssid2(value)
      default: break
      }
    }
  }

  /// - Parameters:
  ///   - name: the interface of a BSS; nil: the first.
  ///   - file: for the message.
  /// - Returns: none for a hidden network: what its owner does not broadcast is not put on a broker.
  func reading(_ name: String?, of file: String) throws(SSIDTrouble) -> SSIDReading {
    let found = name.map { name in bsss.first { $0.interface == name } } ?? bsss.first
    guard let found else { throw .noSuchBSS(name ?? "", file: file) }
    guard !found.isHidden else { return .none }
    return try SSIDReading(found.ssid ?? [])
  }

  // MARK: Values of ssid2

  private static func ssid2(_ value: ArraySlice<UInt8>) -> [UInt8]? {
    let quote = UInt8(ascii: "\"")
    let isEscaped = value.first == UInt8(ascii: "P") && value.dropFirst().first == quote
    guard isEscaped || value.first == quote else { return Hexadecimal.decode(String(decoding: value, as: UTF8.self)) }
    let inner = value.dropFirst(isEscaped ? 2 : 1)
    guard inner.last == quote else { return nil }
    return isEscaped ? unescaped(inner.dropLast()) : Array(inner.dropLast())
  }

  /// `\n`, `\r`, `\t`, `\e`, `\\`, `\"`, `\xN` and `\xNN`, `\N` to `\NNN` in octal; another backslash is dropped.
  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    /// The next digits, as far as there are some.
    func number(_ most: Int, radix: Int) -> UInt8? {
      let digits = rest.prefix(most).prefix { Character(Unicode.Scalar($0)).hexDigitValue.map { $0 < radix } == true }
      rest = rest.dropFirst(digits.count)
      return Int(String(decoding: digits, as: UTF8.self), radix: radix).map { UInt8(truncatingIfNeeded: $0) }
    }
    while let byte = rest.popFirst() {
      if byte != UInt8(ascii: "\\") {
        bytes.append(byte)
      } else if let octal = number(3, radix: 8) {
        bytes.append(octal)
      } else if let next = rest.popFirst() {
        switch Character(Unicode.Scalar(next)) {
        case "n": bytes.append(0x0A)
        case "r": bytes.append(0x0D)
        case "t": bytes.append(0x09)
        case "e": bytes.append(0x1B)
        case "x": bytes += number(2, radix: 16).map { [$0] } ?? []
        default: bytes.append(next)
        }
      }
    }
    return bytes
  }
}

extension HostapdFile {
  init(path: String) throws(SSIDTrouble) {
    // A named pipe would wait for its writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unreadable(file: path, code: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.mostBytes else {
      throw .notAFile(path)
    }
    // Of a network file system one call may give a part.
    var (bytes, part) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
    while bytes.count <= Self.mostBytes {
      let count = read(descriptor, &part, part.count)
      guard count >= 0 else { throw .unreadable(file: path, code: errno) }
      if count == 0 { break }
      bytes += part.prefix(count)
    }
    self.init(bytes)
  }
}
