// SPDX-License-Identifier: Apache-2.0

import ServiceDiscovery
import TestKit
import ThreadDataset

/// A record as a border router of a test advertises it.
struct Advert {
  static let garage = "b0b0b0b0c1c1c1c1d2d2d2d2e3e3e3e3"

  var name = "Kitchen"
  var id: String? = garage
  var address: String?
  var network: SampleNetwork? = .home
  var networkName: String?
  var at: UInt64? = 1
  var partition: UInt32? = 7
  var state: UInt32?
  var more: [String] = []

  var service: ServiceRecord {
    var entries: [[UInt8]] = [Array("rv=1".utf8), Array("vn=Acme".utf8), Array("mn=BR-2".utf8)]
    func add(_ key: String, _ bytes: [UInt8]?) {
      if let bytes { entries.append(Array("\(key)=".utf8) + bytes) }
    }
    add("id", id.flatMap { Hexadecimal.decode($0) })
    add("xa", address.flatMap { Hexadecimal.decode($0) })
    add("xp", network.flatMap { Hexadecimal.decode($0.extendedPANID) })
    add("nn", network.map { Array((networkName ?? $0.name).utf8) })
    add("at", at.map { Self.bytes($0 << 16, 8) })
    add("pt", partition.map { Self.bytes(UInt64($0), 4) })
    add("sb", state.map { Self.bytes(UInt64($0), 4) })
    add("tv", Array("1.4.0".utf8))
    entries += more.map { Array($0.utf8) }
    return ServiceRecord(
      name: name, host: "kitchen.local", port: 49_152, text: TXTRecord(entries: entries))
  }

  func with(_ change: (inout Advert) -> Void) -> Advert {
    var advert = self
    change(&advert)
    return advert
  }

  private static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
  }
}
