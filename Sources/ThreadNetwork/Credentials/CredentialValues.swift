// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The values of credentials, to compare and to archive.
struct CredentialValues: Equatable {
  var networkName: String?
  var extendedPANID: Data?
  var borderAgentID: Data?
  var activeOperationalDataSet: Data?
  var networkKey: Data?
  var pskc: Data?
  var panID: Data?
  var channel: UInt8 = 0
  var creationDate: Date?
  var lastModificationDate: Date?
}

extension CredentialValues {
  /// - Returns: nil for a record without its dataset.
  init?(_ record: CredentialRecord) {
    guard let dataset = record.dataset else { return nil }
    networkName = dataset.networkName
    extendedPANID = Data(record.network.bytes)
    borderAgentID = record.agent.map { Data($0.bytes) }
    activeOperationalDataSet = Data(dataset.bytes)
    networkKey = dataset.networkKey.map { Data($0.bytes) }
    pskc = dataset.pskc.map { Data($0.bytes) }
    panID = dataset.panID.map { Data([UInt8($0 >> 8), UInt8($0 & 0xFF)]) }
    channel = dataset.channel.map { UInt8(truncatingIfNeeded: $0.number) } ?? 0
    creationDate = record.created
    lastModificationDate = record.modified
  }
}

extension CredentialValues {
  private enum Key {
    static let networkName = "networkName"
    static let extendedPANID = "extendedPANID"
    static let borderAgentID = "borderAgentID"
    static let activeOperationalDataSet = "activeOperationalDataSet"
    static let networkKey = "networkKey"
    static let pskc = "PSKC"
    static let panID = "panID"
    static let channel = "channel"
    static let creationDate = "creationDate"
    static let lastModificationDate = "lastModificationDate"
  }

  init?(_ coder: NSCoder) {
    func data(_ key: String) -> Data? {
      coder.decodeObject(of: NSData.self, forKey: key).map { Data(referencing: $0) }
    }
    func date(_ key: String) -> Date? {
      coder.decodeObject(of: NSDate.self, forKey: key).map {
        Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate)
      }
    }
    guard let channel = UInt8(exactly: coder.decodeInteger(forKey: Key.channel)) else {
      return nil
    }
    self.channel = channel
    networkName = coder.decodeObject(of: NSString.self, forKey: Key.networkName).map { "\($0)" }
    extendedPANID = data(Key.extendedPANID)
    borderAgentID = data(Key.borderAgentID)
    activeOperationalDataSet = data(Key.activeOperationalDataSet)
    networkKey = data(Key.networkKey)
    pskc = data(Key.pskc)
    panID = data(Key.panID)
    creationDate = date(Key.creationDate)
    lastModificationDate = date(Key.lastModificationDate)
  }

  func encode(with coder: NSCoder) {
    coder.encode(networkName.map { NSString(string: $0) }, forKey: Key.networkName)
    for (key, value) in [
      (Key.extendedPANID, extendedPANID), (Key.borderAgentID, borderAgentID),
      (Key.activeOperationalDataSet, activeOperationalDataSet), (Key.networkKey, networkKey),
      (Key.pskc, pskc), (Key.panID, panID),
    ] {
      coder.encode(value.map { NSData(data: $0) }, forKey: key)
    }
    coder.encode(Int(channel), forKey: Key.channel)
    for (key, value) in [
      (Key.creationDate, creationDate), (Key.lastModificationDate, lastModificationDate),
    ] {
      coder.encode(
        value.map { NSDate(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) },
        forKey: key)
    }
  }
}
