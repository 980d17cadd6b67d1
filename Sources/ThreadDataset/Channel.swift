// SPDX-License-Identifier: Apache-2.0

/// A channel: a page and a number on it.
///
/// ```
/// | page, 1 byte | number, 2 bytes |
/// ```
///
/// Page 0 is the 2.4 GHz band with the channels 11 to 26. Other pages are taken as they come.
///
/// Thread specification: Channel TLV. IEEE 802.15.4: channel pages.
public struct Channel: Sendable, Hashable {
  /// The channels of page 0.
  public static let numbersOfPage0: ClosedRange<UInt16> = 11...26

  /// The channel page; 0 is 2.4 GHz.
  public let page: UInt8
  /// The channel number; 11 to 26 on page 0.
  public let number: UInt16

  /// - Parameters:
  ///   - page: the channel page.
  ///   - number: the number; its range is checked when a dataset is made of it.
  public init(page: UInt8 = 0, number: UInt16) {
    self.page = page
    self.number = number
  }

  init(bytes: ArraySlice<UInt8>) {
    self.init(page: bytes.first ?? 0, number: UInt16(bigEndianBytes: bytes.dropFirst()))
  }

  var bytes: [UInt8] { [page] + number.bigEndianBytes }

  var isAllowed: Bool { page != 0 || Self.numbersOfPage0.contains(number) }
}

extension Channel: CustomStringConvertible {
  /// For instance `15`, or `1 (page 2)`.
  public var description: String { page == 0 ? "\(number)" : "\(number) (page \(page))" }
}
