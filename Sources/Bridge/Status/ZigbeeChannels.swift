import Broker
import Home
import ThreadDataset
import ThreadkeeperSupport

/// The channel of a Zigbee network on the same broker, as zigbee2mqtt retains it:
///
/// ```
/// zigbee2mqtt/bridge/info  {…, "network": {"channel": 15, …}, …}
/// ```
///
/// Zigbee and Thread have the channels 11 to 26 of IEEE 802.15.4 in common: two networks on the same one wait for each
/// other. Neighbouring channels do not overlap.
struct ZigbeeChannels: Equatable, Sendable {
  static let topic = AccessList.zigbee
  /// It has all settings of zigbee2mqtt with their schema, some 100 KB. A broker of MQTT 3.1.1 sends more.
  static let mostBytes: UInt32 = 524_288
  private static let depth = 64

  /// Nil where no network is known.
  private(set) var channel: UInt16?

  /// - Parameter payload: empty where zigbee2mqtt is gone.
  mutating func take(_ payload: [UInt8]) {
    channel = nil
    guard payload.count <= Self.mostBytes else { return }
    let network = UntrustedJSON.value(of: "network", in: payload, depth: Self.depth)
    let number = network.flatMap { UntrustedJSON.value(of: "channel", in: $0, depth: Self.depth) }
    channel = number.flatMap { UInt16(String(decoding: $0, as: UTF8.self)) }.flatMap {
      Channel.numbersOfPage0.contains($0) ? $0 : nil
    }
  }

  /// That both are on one channel.
  struct Overlap: Equatable {
    let preferred: DatasetSummary
    let channel: UInt16

    /// `11–14 and 16–26`.
    var free: String {
      let all = Channel.numbersOfPage0
      return [(all.lowerBound, channel - 1), (channel + 1, all.upperBound)].filter { $0.0 <= $0.1 }.map {
        $0.0 == $0.1 ? "\($0.0)" : "\($0.0)–\($0.1)"
      }.joined(separator: " and ")
    }
  }

  /// - Parameter preferred: of a home.
  func overlap(with preferred: DatasetSummary?) -> Overlap? {
    // Page and number: a network that is not in the 2.4 GHz band has another page.
    guard let channel, let preferred, preferred.parameters?.channel == UInt32(channel) else { return nil }
    return Overlap(preferred: preferred, channel: channel)
  }
}
