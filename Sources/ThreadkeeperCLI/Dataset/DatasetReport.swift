// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// All that is in a dataset, for scripts. What is not in it, is absent.
struct DatasetReport: Encodable {
  struct Policy: Encodable {
    let rotationTimeHours: UInt16
    let flags: String
  }

  struct Unknown: Encodable {
    let type: UInt8
    let length: Int
    let value: String?
  }

  let kind: String
  let bytes: Int
  let networkName: String?
  let extPanId: String?
  let panId: UInt16?
  let channel: UInt16?
  let channelPage: UInt8?
  let channelMask: [UInt16]?
  let wakeUpChannel: UInt16?
  let wakeUpChannelPage: UInt8?
  let activeTimestamp: UInt64?
  let activeTimestampTicks: UInt16?
  let pendingTimestamp: UInt64?
  let pendingTimestampTicks: UInt16?
  let delayTimerMs: UInt32?
  let meshLocalPrefix: String?
  let securityPolicy: Policy?
  let domainName: String?
  let unknown: [Unknown]
  /// Only where secrets are asked for.
  let networkKey: String?
  /// Only where secrets are asked for.
  let pskc: String?
  /// Whether the Network Key is printed in public documentation.
  let wellKnownKey: Bool?

  init(of dataset: OperationalDataset, showSecrets: Bool) {
    kind = dataset.kind.rawValue
    bytes = dataset.bytes.count
    networkName = dataset.networkName
    extPanId = dataset.extendedPANID?.description
    panId = dataset.panID
    channel = dataset.channel?.number
    channelPage = dataset.channel?.page
    channelMask = dataset.channelMask?.channels
    wakeUpChannel = dataset.wakeUpChannel?.number
    wakeUpChannelPage = dataset.wakeUpChannel?.page
    activeTimestamp = dataset.activeTimestamp?.seconds
    activeTimestampTicks = dataset.activeTimestamp?.ticks
    pendingTimestamp = dataset.pendingTimestamp?.seconds
    pendingTimestampTicks = dataset.pendingTimestamp?.ticks
    delayTimerMs = dataset.delayTimer
    meshLocalPrefix = dataset.meshLocalPrefix?.ipv6Text
    securityPolicy = dataset.securityPolicy.map {
      Policy(rotationTimeHours: $0.rotationTime, flags: Hexadecimal.encode($0.flags))
    }
    domainName = dataset.domainName
    // An unknown value may be a secret that a newer Thread has.
    unknown = dataset.unknown.map {
      Unknown(
        type: $0.type, length: $0.value.count,
        value: showSecrets ? Hexadecimal.encode($0.value) : nil)
    }
    networkKey = showSecrets ? dataset.networkKey?.revealedHex : nil
    pskc = showSecrets ? dataset.pskc?.revealedHex : nil
    wellKnownKey = dataset.networkKey?.isWellKnown
  }
}
