// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

extension Table {
  /// All that is in a dataset, for people. What is not in it, has no row.
  init(of dataset: OperationalDataset, showSecrets: Bool) {
    self.init(columns: "Parameter", "Value")
    add("Kind", "\(dataset.kind.rawValue), \(dataset.bytes.count) bytes")
    add(.networkName, dataset.networkName)
    add(.extendedPANID, dataset.extendedPANID?.description)
    add(.panID, dataset.panID.map { "\(hexadecimal($0)) (\($0))" })
    add(.channel, dataset.channel?.description)
    add(.channelMask, dataset.channelMask.map { ranges(of: $0.channels) })
    add(.wakeUpChannel, dataset.wakeUpChannel?.description)
    add(.activeTimestamp, dataset.activeTimestamp?.description)
    add(.pendingTimestamp, dataset.pendingTimestamp?.description)
    add(.delayTimer, dataset.delayTimer.map { "\($0) ms" })
    add(.meshLocalPrefix, dataset.meshLocalPrefix?.ipv6Text)
    add(
      .securityPolicy,
      dataset.securityPolicy.map {
        "keys rotate every \($0.rotationTime) h, flags \(Hexadecimal.encode($0.flags))"
      })
    add(.domainName, dataset.domainName)
    add(.networkKey, dataset.networkKey.map { shown($0, showSecrets) + warning(about: $0) })
    add(.pskc, dataset.pskc.map { shown($0, showSecrets) })
    for tlv in dataset.unknown {
      // An unknown value may be a secret that a newer Thread has.
      let bytes = tlv.value.count == 1 ? "<1 byte>" : "<\(tlv.value.count) bytes>"
      add("TLV \(tlv.type)", showSecrets ? Hexadecimal.encode(tlv.value) : bytes)
    }
  }

  private mutating func add(_ type: TLVType, _ value: String?) {
    if let value { add(type.name, value) }
  }
}

private func shown(_ secret: some ThreadSecret, _ show: Bool) -> String {
  show ? secret.revealedHex : secret.description
}

private func warning(about key: NetworkKey) -> String {
  key.isWellKnown ? ", printed in public documentation: it keeps nobody out" : ""
}

private func hexadecimal(_ panID: UInt16) -> String {
  "0x" + Hexadecimal.encode([UInt8(panID >> 8), UInt8(panID & 0xFF)])
}

/// Rising numbers as text: `11-14, 20`.
private func ranges(of channels: [UInt16]) -> String {
  var ranges: [ClosedRange<UInt16>] = []
  for channel in channels {
    if let last = ranges.last, last.upperBound + 1 == channel {
      ranges[ranges.count - 1] = last.lowerBound...channel
    } else {
      ranges.append(channel...channel)
    }
  }
  return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    .joined(separator: ", ")
}
