import ThreadDataset

/// A Thread network with random keys, or with keys that a test can recognise.
struct ThreadNetwork: Sendable {
  let name: String
  let extendedPANID: String
  let networkKey: [UInt8]
  let pskc: [UInt8]
  private let dataset: OperationalDataset

  struct Unfit: Error {}

  init(_ name: String, channel: UInt16 = 15, networkKey: [UInt8]? = nil, pskc: [UInt8]? = nil) throws {
    self.name = name
    self.networkKey = networkKey ?? Self.random(16)
    self.pskc = pskc ?? Self.random(16)
    // Whatever shows the whole dataset shows these.
    Recorder.current?.note("the network key of \(name)", self.networkKey)
    Recorder.current?.note("the PSKc of \(name)", self.pskc)
    guard let key = NetworkKey(bytes: self.networkKey), let pskc = PSKc(bytes: self.pskc),
      let network = ExtendedPANID(bytes: Self.random(8)), let prefix = MeshLocalPrefix(bytes: [0xFD] + Self.random(7)),
      let policy = SecurityPolicy(rotationTime: 672, flags: [0xF7, 0xF8]), let timestamp = Timestamp(seconds: 1)
    else { throw Unfit() }
    extendedPANID = network.description
    dataset = try OperationalDataset([
      .activeTimestamp(timestamp), .channel(Channel(number: channel)), .channelMask(ChannelMask(channels: 11...26)),
      .extendedPANID(network), .meshLocalPrefix(prefix), .networkKey(key), .networkName(name),
      .panID(.random(in: 1...0xFFFD)), .pskc(pskc), .securityPolicy(policy),
    ])
  }

  var panID: Int64 { Int64(dataset.panID ?? 0) }

  /// The network's dataset in hex.
  ///
  /// - Parameters:
  ///   - timestamp: seconds of the Active Timestamp.
  ///   - channel: another than the network's first one.
  func hex(at timestamp: UInt64 = 1, channel: UInt16? = nil) throws -> String {
    guard let timestamp = Timestamp(seconds: timestamp) else { throw Unfit() }
    var result = try dataset.replacing(.activeTimestamp(timestamp))
    if let channel { result = try result.replacing(.channel(Channel(number: channel))) }
    return result.hex
  }

  /// A pending dataset, which lands in 58 s.
  func pending(at timestamp: UInt8, channel: UInt16) throws -> [UInt8] {
    let active = Hexadecimal.decode(try hex(at: UInt64(timestamp), channel: channel)) ?? []
    // Pending Timestamp and Delay Timer.
    return active + [51, 8, 0, 0, 0, 0, 0, timestamp, 0, 0, 52, 4, 0, 0, 0xE2, 0x90]
  }

  private static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0 ... .max) } }
}
