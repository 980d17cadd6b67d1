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

/// The channels that a network may use: one entry for each channel page.
///
/// ```
/// | page, 1 byte | length, 1 byte | mask, length bytes | page | length | mask | …
/// ```
///
/// The bits are in reversed order: the highest bit of the first byte is channel 0. The channels 11
/// to 26 are `001fffe0`.
///
/// Thread specification: Channel Mask TLV.
public struct ChannelMask: Sendable, Hashable {
  /// The mask of one page.
  public struct Entry: Sendable, Hashable {
    /// The channel page; 0 is 2.4 GHz.
    public let page: UInt8
    /// The mask as it is on the wire; 4 bytes on page 0.
    public let mask: [UInt8]

    /// - Parameters:
    ///   - page: the channel page.
    ///   - mask: the mask as on the wire; whether it fits is checked when a dataset is made of it.
    public init(page: UInt8, mask: [UInt8]) {
      self.page = page
      self.mask = mask
    }

    /// The numbers of the channels whose bits are set, rising.
    public var channels: [UInt16] {
      mask.enumerated().flatMap { index, byte in
        (0..<8).filter { byte & (0x80 >> $0) != 0 }.map { UInt16(index * 8 + $0) }
      }
    }
  }

  /// The entries in their order.
  public let entries: [Entry]

  /// - Parameter entries: the entries; whether they fit is checked when a dataset is made of them.
  public init(entries: [Entry]) { self.entries = entries }

  /// A mask of page 0. Numbers above 31 have no bit in it and are left out.
  public init(channels: some Sequence<UInt16>) {
    let bits = channels.reduce(UInt32(0)) { $1 < 32 ? $0 | (0x8000_0000 >> UInt32($1)) : $0 }
    self.init(entries: [Entry(page: 0, mask: bits.bigEndianBytes)])
  }

  /// The numbers of the channels of page 0, rising.
  public var channels: [UInt16] { entries.filter { $0.page == 0 }.flatMap(\.channels) }

  /// Whether page 0 has channels 11 to 26 alone.
  var isAllowed: Bool { entries.allSatisfy { $0.page != 0 || UInt32(bigEndianBytes: $0.mask) & ~0x001F_FFE0 == 0 } }

  /// False when there is no entry, when one is cut off, or when one of page 0 has not 4 bytes.
  static func isSound(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while let page = rest.popFirst() {
      guard let length = rest.popFirst(), length <= rest.count, page != 0 || length == 4 else { return false }
      rest = rest.dropFirst(Int(length))
    }
    return !bytes.isEmpty
  }

  /// `nil` for what is not sound.
  init?(bytes: ArraySlice<UInt8>) {
    guard Self.isSound(bytes) else { return nil }
    var entries: [Entry] = []
    var rest = bytes
    while let page = rest.popFirst(), let length = rest.popFirst() {
      entries.append(Entry(page: page, mask: Array(rest.prefix(Int(length)))))
      rest = rest.dropFirst(Int(length))
    }
    self.init(entries: entries)
  }

  var bytes: [UInt8] { entries.flatMap { [$0.page, UInt8(truncatingIfNeeded: $0.mask.count)] + $0.mask } }
}
