import ThreadDataset

/// What a home knows of an operational dataset. The secrets are not in it: keyed hashes stand for them, so that they
/// can be compared.
package struct DatasetSummary: Hashable, Sendable {
  package var network: ExtendedPANID
  /// Empty where there is none.
  package var name: String
  /// Nil of a network that is preferred by its Extended PAN ID alone: then only its id and its name are known. What a
  /// dataset lacks that is not complete is nil in them.
  @Boxed package var parameters: Parameters?

  package struct Parameters: Hashable, Sendable {
    /// Of all bytes of the dataset.
    package var whole: Hash128
    package var networkKey: Hash128
    package var pskc: Hash128?
    package var activeTimestamp: Timestamp?
    /// Page and number.
    package var channel: UInt32
    package var panID: UInt16
    package var meshLocalPrefix: UInt64?
    /// The TLV without its legacy beacon bit, the first byte highest.
    package var securityPolicy: UInt64?
    package var domainName: String?
    var hasChannelMask = true
    /// Whether the network key is printed in public documentation.
    var isKeyWellKnown: Bool

    package var channelNumber: UInt16 { UInt16(truncatingIfNeeded: channel) }
  }

  package init(network: ExtendedPANID, name: String, parameters: Parameters? = nil) {
    self.network = network
    self.name = name
    self.parameters = parameters
  }

  /// - Parameters:
  ///   - dataset: complete, or not.
  ///   - hash: a keyed hash of some bytes, and of what they are: 0 the dataset, 1 its network key, 2 its PSKc.
  /// - Returns: nil for a dataset with which no Matter device can attach.
  package init?(_ dataset: OperationalDataset, hash: (UnsafeRawBufferPointer, UInt8) -> Hash128) {
    guard dataset.isUsableByMatter, let network = dataset.extendedPANID, let key = dataset.networkKey,
      let channel = dataset.channel, let panID = dataset.panID
    else { return nil }
    // Not by `map`: each call more leaves a copy on the stack.
    var pskc: Hash128?
    if let secret = dataset.pskc { pskc = secret.withUnsafeBytes { hash($0, 2) } }
    self.init(
      network: network, name: dataset.networkName ?? "",
      parameters: Parameters(
        whole: dataset.bytes.withUnsafeBytes { hash($0, 0) }, networkKey: key.withUnsafeBytes { hash($0, 1) },
        pskc: pskc, activeTimestamp: dataset.activeTimestamp,
        channel: UInt32(channel.page) << 16 | UInt32(channel.number), panID: panID,
        meshLocalPrefix: dataset.meshLocalPrefix.map { $0.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } },
        securityPolicy: dataset.securityPolicy.map(Self.bits), domainName: dataset.domainName,
        hasChannelMask: dataset.channelMask != nil, isKeyWellKnown: key.isWellKnown))
  }

  private static func bits(of policy: SecurityPolicy) -> UInt64 {
    // The 1 in front keeps policies of different lengths apart.
    var bits = 1 << 16 | UInt64(policy.rotationTime)
    for (index, flags) in policy.flags.enumerated() {
      let rest = bits << 8 ^ bits >> 56
      bits = rest ^ UInt64(index == 0 ? flags & ~0x08 : flags)
    }
    return bits
  }

  package var hasCredentials: Bool { !_parameters.isAbsent }

  /// Whether it has all that a network needs. Another one is kept for who reports it, and never preferred.
  package var isComplete: Bool {
    guard let parameters else { return false }
    return parameters.activeTimestamp != nil && parameters.hasChannelMask && lacking.isEmpty
  }

  /// What it lacks to be complete, in the order of `OperationalDataset.missing`; nothing where there are no
  /// credentials.
  package var lacks: [TLVType] {
    guard let parameters else { return [] }
    let types: [(TLVType, isThere: Bool)] = [
      (.activeTimestamp, parameters.activeTimestamp != nil), (.channelMask, parameters.hasChannelMask),
      (.meshLocalPrefix, parameters.meshLocalPrefix != nil), (.networkName, !name.isEmpty),
      (.pskc, parameters.pskc != nil), (.securityPolicy, parameters.securityPolicy != nil),
    ]
    return types.filter { !$0.isThere }.map(\.0)
  }

  /// The essential parameters that it lacks.
  private var lacking: DatasetDifferences {
    guard let parameters else { return [] }
    var lacking: DatasetDifferences = []
    if name.isEmpty { lacking.insert(.networkName) }
    if parameters.pskc == nil { lacking.insert(.pskc) }
    if parameters.meshLocalPrefix == nil { lacking.insert(.meshLocalPrefix) }
    if parameters.securityPolicy == nil { lacking.insert(.securityPolicy) }
    return lacking
  }

  /// Its network by its Extended PAN ID alone.
  var withoutCredentials: DatasetSummary { DatasetSummary(network: network, name: name) }

  var activeTimestamp: Timestamp? { parameters?.activeTimestamp }

  package var activeSeconds: UInt64? { parameters?.activeTimestamp?.seconds }

  var radio: PreferredChange.Radio? { parameters.map { .init(channel: $0.channelNumber, panID: $0.panID) } }
}

/// The essential parameters in which two datasets differ.
package struct DatasetDifferences: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  static let networkKey = DatasetDifferences(.networkKey)
  static let extendedPANID = DatasetDifferences(.extendedPANID)
  static let panID = DatasetDifferences(.panID)
  package static let channel = DatasetDifferences(.channel)
  static let networkName = DatasetDifferences(.networkName)
  static let pskc = DatasetDifferences(.pskc)
  static let meshLocalPrefix = DatasetDifferences(.meshLocalPrefix)
  static let securityPolicy = DatasetDifferences(.securityPolicy)
  static let domainName = DatasetDifferences(.domainName)

  private init(_ parameter: DatasetParameter) {
    rawValue = 1 << UInt16(DatasetParameter.allCases.firstIndex(of: parameter) ?? 0)
  }

  /// In the order in which they are published.
  package var parameters: [DatasetParameter] { DatasetParameter.allCases.filter { contains(DatasetDifferences($0)) } }
}

/// What one dataset is to another one that is stored already. Age counts within one network only.
enum DatasetRelation: Hashable {
  /// The same network, equally old, with the same essential parameters.
  case match
  case older
  case newer
  /// The same network, equally old, with different essential parameters.
  case conflict
  /// Another network.
  case mismatch
}

extension DatasetSummary {
  /// Neither timestamps, unknown TLVs nor the legacy beacon bit are essential. A parameter that only one of the two has
  /// differs.
  package func differences(from other: DatasetSummary) -> DatasetDifferences {
    var found: DatasetDifferences = []
    if network != other.network { found.insert(.extendedPANID) }
    if ExactName(name) != ExactName(other.name) { found.insert(.networkName) }
    guard let mine = parameters, let others = other.parameters else {
      guard parameters != nil || other.parameters != nil else { return found }
      found.formUnion([.networkKey, .panID, .channel, .pskc, .meshLocalPrefix, .securityPolicy])
      if (parameters ?? other.parameters)?.domainName != nil { found.insert(.domainName) }
      return found
    }
    if mine.whole == others.whole { return found }
    if mine.networkKey != others.networkKey { found.insert(.networkKey) }
    if mine.panID != others.panID { found.insert(.panID) }
    if mine.channel != others.channel { found.insert(.channel) }
    if mine.pskc != others.pskc { found.insert(.pskc) }
    if mine.meshLocalPrefix != others.meshLocalPrefix { found.insert(.meshLocalPrefix) }
    if mine.securityPolicy != others.securityPolicy { found.insert(.securityPolicy) }
    if mine.domainName.map({ ExactName($0) }) != others.domainName.map({ ExactName($0) }) { found.insert(.domainName) }
    return found
  }

  /// As `differences`, without what this one lacks.
  func knownDifferences(from other: DatasetSummary) -> DatasetDifferences {
    differences(from: other).subtracting(lacking)
  }

  /// Equal for datasets with the same essential parameters. Names that only look the same may be equal, too.
  var essential: DatasetSummary {
    var copy = self
    copy.parameters?.whole = Hash128()
    copy.parameters?.activeTimestamp = nil
    return copy
  }

  /// Whether both have the same essential parameters.
  func isSame(as other: DatasetSummary) -> Bool { differences(from: other).isEmpty }

  /// Whether both have the same Network Key and the same PSKc. The PSKc counts as a key: who knows it can get the
  /// Network Key from any router that uses it (Thread 1.1 specification, 8.4).
  func hasKeys(of other: DatasetSummary) -> Bool {
    parameters?.networkKey == other.parameters?.networkKey && parameters?.pskc == other.parameters?.pskc
  }

  /// Whether it is given for its network in place of another one: a complete one, and then a newer one.
  func isPreferable(to other: DatasetSummary) -> Bool {
    if isComplete != other.isComplete { return isComplete }
    return (activeSeconds ?? 0) > (other.activeSeconds ?? 0)
  }

  /// Whether it is of the same network and has the same keys.
  func isSameNetwork(as other: DatasetSummary) -> Bool { network == other.network && hasKeys(of: other) }

  /// Whether nothing is lost when another one takes its place: it says the same, or this one only names its network.
  func isCovered(by other: DatasetSummary) -> Bool { isSame(as: other) || !hasCredentials && network == other.network }

  func relation(to stored: DatasetSummary) -> DatasetRelation {
    guard network == stored.network else { return .mismatch }
    if let mine = activeTimestamp, let others = stored.activeTimestamp, mine != others {
      return mine > others ? .newer : .older
    }
    return isSame(as: stored) ? .match : .conflict
  }
}

/// What becomes of a dataset that is reported or stored for a router, given what is stored for it.
package enum DatasetDecision: Hashable, Sendable {
  /// The first one of this router.
  case store
  /// Says what is stored already.
  case keep
  /// The same network, newer. What changed.
  case update(DatasetDifferences)
  /// Another network: stored whatever its timestamp.
  case move(from: ExtendedPANID, DatasetDifferences)
  /// The same network, older: ignored, with an event.
  case ignoreOlder
  /// The same network and age, with other content: not stored, and never dropped in silence.
  case conflict(DatasetDifferences)

  /// For what a router reports. What is stored and not complete has no age that counts: it gives way to what comes.
  init(stored: DatasetSummary?, reported: DatasetSummary) {
    guard let stored, stored.isComplete else {
      self.init(stored: stored, requested: reported)
      return
    }
    let differences = reported.differences(from: stored)
    self =
      switch reported.relation(to: stored) {
      case .match: .keep
      case .older: .ignoreOlder
      case .newer: .update(differences)
      case .conflict: .conflict(differences)
      case .mismatch: .move(from: stored.network, differences)
      }
  }

  /// For what a router reports that it was sent, which counts whatever its timestamp.
  init(stored: DatasetSummary?, confirmed: DatasetSummary) {
    self.init(stored: stored, reported: confirmed)
    guard !isStored, let stored, !confirmed.hasSameBytes(as: stored) else { return }
    self = .update(confirmed.differences(from: stored))
  }

  /// For what a program stores. Unlike an event, which says what a router has seen, a request says what holds now: it
  /// replaces what is stored whatever its timestamp.
  init(stored: DatasetSummary?, requested: DatasetSummary) {
    guard let stored else {
      self = .store
      return
    }
    if requested.hasSameBytes(as: stored) {
      self = .keep
      return
    }
    let differences = requested.differences(from: stored)
    self = requested.network == stored.network ? .update(differences) : .move(from: stored.network, differences)
  }

  /// Whether the incoming dataset becomes the stored one.
  var isStored: Bool {
    switch self {
    case .store, .update, .move: true
    case .keep, .ignoreOlder, .conflict: false
    }
  }
}

extension DatasetSummary {
  /// Byte by byte: a channel mask or an unknown TLV is also something to keep.
  func hasSameBytes(as other: DatasetSummary) -> Bool {
    parameters?.whole == other.parameters?.whole && network == other.network
  }
}
