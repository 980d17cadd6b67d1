// SPDX-License-Identifier: Apache-2.0

extension TLVType {
  /// What is wrong with one value: the code, and what was expected.
  struct Flaw {
    let code: DatasetError.Code
    let expected: String
  }

  /// How many bytes the value may have.
  var allowedLengths: ClosedRange<Int> {
    switch self {
    case .channel, .wakeUpChannel: 3...3
    case .panID: 2...2
    case .extendedPANID, .meshLocalPrefix, .activeTimestamp, .pendingTimestamp: 8...8
    case .networkName: 1...16
    case .pskc, .networkKey: 16...16
    case .securityPolicy: 3...OperationalDataset.maximumLength
    case .delayTimer: 4...4
    case .channelMask: 1...OperationalDataset.maximumLength
    case .domainName: 0...16
    }
  }

  /// Checks the length first, then the value. `nil` is a sound value.
  ///
  /// An expectation never repeats a byte of the value: it may be shown to anybody.
  func flaw(in value: ArraySlice<UInt8>) -> Flaw? {
    guard allowedLengths.contains(value.count) else {
      return Flaw(code: .badLength, expected: expectedLength)
    }
    return expectationFailed(by: value).map { Flaw(code: .badValue, expected: $0) }
  }

  private var expectedLength: String {
    let lengths = allowedLengths
    if lengths.count == 1 { return "\(lengths.lowerBound)" }
    if lengths.upperBound == OperationalDataset.maximumLength {
      return "\(lengths.lowerBound) or more"
    }
    return "\(lengths.lowerBound) to \(lengths.upperBound)"
  }

  /// What a value of sound length had to be and is not.
  private func expectationFailed(by value: ArraySlice<UInt8>) -> String? {
    switch self {
    case .channel, .wakeUpChannel:
      Channel(bytes: value).isAllowed ? nil : "channel 11 to 26 on page 0"
    case .panID:
      UInt16(bigEndianBytes: value) < 0xFFFF ? nil : "0x0000 to 0xFFFE"
    case .meshLocalPrefix:
      value.first == MeshLocalPrefix.firstByte ? nil : "a prefix that begins with 0xFD"
    case .networkName, .domainName:
      // ASCII is, and looking at it is faster than making a text of it.
      value.allSatisfy { $0 < 0x80 } || String(validating: value, as: UTF8.self) != nil
        ? nil : "UTF-8"
    case .channelMask:
      ChannelMask.isSound(value)
        ? nil : "entries of page, length and mask; 4 bytes of mask on page 0"
    case .extendedPANID, .pskc, .networkKey, .securityPolicy, .activeTimestamp,
      .pendingTimestamp, .delayTimer:
      nil
    }
  }
}
