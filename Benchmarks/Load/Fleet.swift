/// Border routers of one network, and what they publish.
struct Fleet {
  /// What a measurement sends.
  enum Kind: String, CaseIterable {
    case first, unchanged
    /// The first of each router, from which on it is missed when it is silent; and each after it.
    case firstHeartbeat, steadyHeartbeat

    /// One of them.
    var word: String {
      switch self {
      case .first: "first announcement"
      case .unchanged: "unchanged announcement"
      case .firstHeartbeat: "first heartbeat"
      case .steadyHeartbeat: "steady heartbeat"
      }
    }

    var article: String { self == .unchanged ? "an" : "a" }

    var words: String { "\(word)s" }
  }

  static let user = "bench-routers"
  /// A complete dataset. Its key was made for this and is none of those that documentation prints,
  /// which would raise an alert.
  static let dataset =
    "0e08000000000001" + "0000" + "000300000f" + "35060004001fffe0" + "02085eed0fbe7c4b1a60" + "0708fd5eed0fbe7c4b1a"
    + "05104be7c10f83d92a6655aa17f03cbe6d90" + "030562656e6368" + "01025eed" + "041090d6be3cf017aa55662ad9830fc1e74b"
    + "0c0402a0f7f8"

  /// The border agent id of a router: spread as hardware addresses are, and always the same.
  static func agent(_ number: Int) -> String {
    // From 1 on: 0 would become the id of zeros, which is none.
    var value = (UInt64(number) &+ 1) &* 0x9E37_79B9_7F4A_7C15
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    value ^= value >> 31
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  func announcement(_ number: Int, name: String? = nil) -> String {
    #"{"border_agent_id":"\#(Self.agent(number))","name":"\#(name ?? "Router \(number)")","#
      + #""vendor":"Example","model":"BR-1","dataset":"\#(Self.dataset)"}"#
  }

  func heartbeat(_ number: Int) -> String { #"{"border_agent_id":"\#(Self.agent(number))"}"# }

  /// What `numbers` send below `base`, and at its end the first announcement of `marker`, if there is one: when that
  /// one is stored, so is everything before it.
  func packets(_ kind: Kind, _ numbers: Range<Int>, marker: Int?, base: String, user: String = Self.user)
    -> PublishPackets
  {
    var packets = PublishPackets()
    let topic = "\(base)/in/\(user)/"
    for number in numbers {
      switch kind {
      case .first, .unchanged: packets.add(topic + "announce", announcement(number))
      case .firstHeartbeat, .steadyHeartbeat: packets.add(topic + "heartbeat", heartbeat(number))
      }
    }
    if let marker { packets.add(topic + "announce", announcement(marker)) }
    return packets
  }
}
