import Foundation
import Security

/// Makes calls of bytes: a byte for the call, then for each dictionary the number of its entries, and for each entry
/// its key, the kind of its value, and the value.
struct SecItemReader {
  enum Call: CaseIterable { case add, copy, update, delete }

  private var input: InputReader
  /// Of the item that was added last.
  var reference = Data()

  init(_ bytes: [UInt8]) { input = InputReader(bytes) }

  var isAtEnd: Bool { input.isAtEnd }

  mutating func call() -> Call { input.pick(Call.allCases) }

  mutating func dictionary() -> [String: Any] {
    var dictionary: [String: Any] = [kSecClass: input.pick(Self.classes)]
    for _ in 0..<Int(input.byte() % 8) {
      let key = input.pick(Self.keys)
      dictionary[key.isEmpty ? input.text() : key] = value(depth: 2)
    }
    return dictionary
  }

  /// The order is that of the seeds: only add to its end.
  private mutating func value(depth: Int) -> Any {
    switch input.byte() % 14 {
    case 0: return input.text()
    case 1: return Data(input.counted())
    case 2: return NSNumber(value: Int64(truncatingIfNeeded: number()))
    case 3: return input.byte() % 2 == 1
    case 4: return Date(timeIntervalSince1970: Double(bitPattern: number()))
    case 5: return Double(bitPattern: number())
    case 6: return input.pick(Self.constants)
    case 7: return reference
    case 8: return Self.accessControl(input.pick(Self.constants), input.byte()) ?? NSNull()
    case 9: return NSNull()
    case 10: return depth > 0 ? (0..<input.byte() % 4).map { _ in value(depth: depth - 1) } : []
    case 11: return [input.text(): depth > 0 ? value(depth: depth - 1) : 0]
    case 12: return NSNumber(value: number())
    default: return Int(input.byte())
    }
  }

  private mutating func number() -> UInt64 { input.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }

  private static func accessControl(_ protection: String, _ flags: UInt8) -> SecAccessControl? {
    SecAccessControlCreateWithFlags(nil, protection, .init(rawValue: CFOptionFlags(flags)), nil)
  }

  private static let classes = [
    kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey, kSecClassIdentity,
  ]

  /// The last one stands for any text. The order is that of the seeds: only add before the end.
  private static let keys = [
    kSecValueData, kSecAttrAccount, kSecAttrService, kSecAttrServer, kSecAttrAccessGroup, kSecAttrAccessible,
    kSecAttrAccessControl, kSecAttrSynchronizable, kSecAttrLabel, kSecAttrGeneric, kSecAttrPort, kSecAttrProtocol,
    kSecAttrPath, kSecAttrCreator, kSecAttrType, kSecAttrComment, kSecAttrIsInvisible, kSecAttrCreationDate,
    kSecAttrModificationDate, kSecAttrApplicationTag, kSecAttrApplicationLabel, kSecAttrKeyClass, kSecAttrKeyType,
    kSecAttrKeySizeInBits, kSecAttrSerialNumber, kSecAttrIssuer, kSecAttrSubject, kSecAttrPublicKeyHash, kSecValueRef,
    kSecValuePersistentRef, kSecReturnData, kSecReturnAttributes, kSecReturnRef, kSecReturnPersistentRef,
    kSecMatchLimit, kSecMatchItemList, kSecMatchCaseInsensitive, kSecMatchSubjectContains, kSecMatchValidOnDate,
    kSecUseAuthenticationUI, kSecUseOperationPrompt, kSecUseItemList, kSecAttrAuthenticationType,
    kSecAttrPersistentReference, kSecClass, "",
  ]

  private static let constants = [
    kSecMatchLimitOne, kSecMatchLimitAll, kSecAttrSynchronizableAny, kSecAttrAccessibleAlways,
    kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
    kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecUseAuthenticationUIFail, kSecUseAuthenticationUISkip,
    kSecAttrKeyClassPrivate, kSecAttrKeyClassPublic, kSecAttrKeyTypeRSA, "own", "shared", "another",
  ]
}
