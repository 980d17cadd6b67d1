// SPDX-License-Identifier: Apache-2.0

extension RangeReplaceableCollection<UInt8> {
  /// The bytes that hexadecimal digits stand for; what is no digit is passed over.
  package init(hex: some StringProtocol) {
    let digits = hex.compactMap(\.hexDigitValue)
    self.init(
      stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
  }
}
