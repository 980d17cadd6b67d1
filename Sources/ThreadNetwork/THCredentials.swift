import Foundation
import Synchronization

@_implementationOnly import Home

// Unchecked because NSObject is: the values are in a mutex.
/// The credentials of a border router, or of the preferred network, as they were when a ``THClient``
/// found them. Programs do not make them.
///
/// Two are equal when all their values are. Nothing that is secret is in a description.
public final class THCredentials: NSObject, NSSecureCoding, @unchecked Sendable {
  /// The name of the network, 1 to 16 bytes of UTF-8. It comes from outside.
  public var networkName: String? { values.networkName }
  /// The identity of the network, 8 bytes.
  public var extendedPANID: Data? { values.extendedPANID }
  /// The border router's id, 8 or 16 bytes; nil for a preferred network on which there is no border
  /// router.
  public var borderAgentID: Data? { values.borderAgentID }
  /// The whole dataset as it was stored, at most 254 bytes of TLVs. The network key is in it.
  public var activeOperationalDataSet: Data? { values.activeOperationalDataSet }
  /// The network key, 16 bytes. Whoever has it can join the network and read all that is sent there.
  public var networkKey: Data? { values.networkKey }
  /// The pre-shared key for commissioners (PSKc), 16 bytes; as secret as the network key.
  public var pskc: Data? { values.pskc }
  /// The PAN ID, 2 bytes, the most significant first.
  public var panID: Data? { values.panID }
  /// When the credentials were first stored.
  public var creationDate: Date? { values.creationDate }
  /// When they were last changed.
  public var lastModificationDate: Date? { values.lastModificationDate }

  /// The number of the radio channel, 11 to 26. A change is for this object only, and stored nowhere.
  public var channel: UInt8 {
    get { values.channel }
    set { stored.withLock { $0.channel = newValue } }
  }

  private let stored: Mutex<CredentialValues>
  private var values: CredentialValues { stored.withLock { $0 } }

  init(_ values: CredentialValues) { stored = Mutex(values) }

  // MARK: NSObject

  /// Whether the other object is of this class and has the same values.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? THCredentials else { return false }
    return other === self || other.values == values
  }

  /// Equal for equal values. The channel does not count: it may change while the object is in a set.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(borderAgentID)
    hasher.combine(extendedPANID)
    hasher.combine(activeOperationalDataSet)
    return hasher.finalize()
  }

  /// Names the border router or the network; never a secret.
  public override var description: String {
    let subject = borderAgentID ?? extendedPANID ?? Data()
    let hex = subject.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return "<THCredentials of \(hex)>"
  }

  // MARK: NSSecureCoding

  /// Whether it can be read from an archive safely. It can.
  public static var supportsSecureCoding: Bool { true }

  /// Reads credentials from an archive.
  ///
  /// - Returns: nil for values that are none.
  public required convenience init?(coder: NSCoder) {
    guard let values = CredentialValues(coder) else { return nil }
    self.init(values)
  }

  /// Writes the credentials into an archive, with the network key in plaintext: whoever can read the
  /// archive has it.
  public func encode(with coder: NSCoder) { values.encode(with: coder) }
}

extension THCredentials: CustomReflectable {
  /// Without the values, some of which are secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

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
    creationDate = Self.date(record.created)
    lastModificationDate = Self.date(record.modified)
  }

  private static func date(_ time: WireTime?) -> Date? {
    time.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1_000) }
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
    func data(_ key: String) -> Data? { coder.decodeObject(of: NSData.self, forKey: key).map { Data(referencing: $0) } }
    func date(_ key: String) -> Date? {
      coder.decodeObject(of: NSDate.self, forKey: key).map {
        Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate)
      }
    }
    guard let channel = UInt8(exactly: coder.decodeInteger(forKey: Key.channel)) else { return nil }
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
      (Key.activeOperationalDataSet, activeOperationalDataSet), (Key.networkKey, networkKey), (Key.pskc, pskc),
      (Key.panID, panID),
    ] { coder.encode(value.map { NSData(data: $0) }, forKey: key) }
    coder.encode(Int(channel), forKey: Key.channel)
    for (key, value) in [(Key.creationDate, creationDate), (Key.lastModificationDate, lastModificationDate)] {
      coder.encode(value.map { NSDate(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) }, forKey: key)
    }
  }
}
