// SPDX-License-Identifier: Apache-2.0

import Glibc
import ThreadDataset

/// A configuration file of hostapd, as far as it names networks: `interface=` begins the first BSS, each `bss=` a
/// further one. `ssid=` has the bytes as they stand; `ssid2=` has them as `"…"`, as `P"…"` with escapes, or in hex. Of
/// several in one BSS the last counts. Everything else is skipped; it may hold passwords.
struct HostapdFile: Equatable {
  static let mostBytes = 1 << 20

  struct BSS: Equatable {
    var interface: String
    /// The value of the last `ssid=` or `ssid2=`; nil: there is none, or one that hostapd takes for a mistake.
    var ssid: [UInt8]?
    /// Its beacons do not have the name (`ignore_broadcast_ssid`).
    var isHidden = false
  }

  private(set) var bsss = [BSS(interface: "")]

  init(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard line.first != UInt8(ascii: "#"), let equals = line.firstIndex(of: UInt8(ascii: "="))
      else { continue }
      var value = line[(equals + 1)...]
      if value.last == UInt8(ascii: "\r") { value.removeLast() }
      let last = bsss.count - 1
      switch String(decoding: line[..<equals], as: UTF8.self) {
      case "interface": bsss[0].interface = String(decoding: value, as: UTF8.self)
      case "bss": bsss.append(BSS(interface: String(decoding: value, as: UTF8.self)))
      case "ssid": bsss[last].ssid = Array(value)
      case "ignore_broadcast_ssid":
        bsss[last].isHidden = value.contains {
          (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0)
        }
      case "ssid2": bsss[last].ssid = Self.text(value)
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
    return try found.ssid.flatMap { bytes throws(SSIDTrouble) in try SSID(bytes) }.map { .ssid($0) }
      ?? .none
  }

  // MARK: Values of ssid2

  private static func text(_ value: ArraySlice<UInt8>) -> [UInt8]? {
    let quote = UInt8(ascii: "\"")
    let isEscaped = value.first == UInt8(ascii: "P") && value.dropFirst().first == quote
    guard isEscaped || value.first == quote else {
      return Hexadecimal.decode(String(decoding: value, as: UTF8.self))
    }
    let inner = value.dropFirst(isEscaped ? 2 : 1)
    guard inner.last == quote else { return nil }
    return isEscaped ? unescaped(inner.dropLast()) : Array(inner.dropLast())
  }

  private static func number(_ digit: UInt8, below base: UInt8) -> UInt8? {
    Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8($0) }.flatMap {
      $0 < base ? $0 : nil
    }
  }

  /// `\n`, `\r`, `\t`, `\e`, `\\`, `\"`, `\xN` and `\xNN`, `\N` to `\NNN` in octal; another backslash is dropped.
  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    func digits(_ most: Int, base: UInt8) -> ArraySlice<UInt8> {
      rest.prefix(most).prefix { number($0, below: base) != nil }
    }
    func value(_ digits: ArraySlice<UInt8>, base: Int) -> UInt8 {
      UInt8(truncatingIfNeeded: digits.reduce(0) { $0 * base + Int(number($1, below: 16) ?? 0) })
    }
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let next = rest.first else {
        if byte != UInt8(ascii: "\\") { bytes.append(byte) }
        continue
      }
      let octal = digits(3, base: 8)
      if !octal.isEmpty {
        bytes.append(value(octal, base: 8))
        rest = rest.dropFirst(octal.count)
        continue
      }
      rest = rest.dropFirst()
      switch next {
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "e"): bytes.append(0x1B)
      case UInt8(ascii: "x"):
        let hex = digits(2, base: 16)
        if !hex.isEmpty { bytes.append(value(hex, base: 16)) }
        rest = rest.dropFirst(hex.count)
      default: bytes.append(next)
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
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .notAFile(path)
    }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= Self.mostBytes {
      let count = Glibc.read(descriptor, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(file: path, code: errno) }
      guard count > 0 else {
        self.init(bytes)
        return
      }
      bytes += part[..<count]
    }
    throw .notAFile(path)
  }
}
