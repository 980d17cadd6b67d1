import Foundation

/// When the secret of an item can be had, and what has to happen before: the value of
/// `kSecAttrAccessControl`.
public final class SecAccessControl: NSObject, Sendable {
  private let protection: String
  private let flags: CFOptionFlags

  init(_ accessible: Accessibility, _ conditions: AccessControl) {
    protection = accessible.code
    flags = CFOptionFlags(conditions.flags.rawValue)
  }

  var accessible: Accessibility { Accessibility(code: protection) ?? .whenUnlocked }
  var conditions: AccessControl { AccessControl(.init(rawValue: UInt64(flags))) }

  /// Whether both say the same.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecAccessControl else { return false }
    return protection == other.protection && flags == other.flags
  }

  /// A hash of what it says.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(protection)
    hasher.combine(flags)
    return hasher.finalize()
  }
}

/// Makes an access control.
///
/// - Parameters:
///   - allocator: nil.
///   - protection: one of `kSecAttrAccessible…`.
///   - flags: what has to happen before the secret is given out.
///   - error: gets the reason when there is no result: `errSecParam`.
public func SecAccessControlCreateWithFlags(
  _ allocator: CFAllocator?, _ protection: Any, _ flags: SecAccessControlCreateFlags,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
  guard let code = protection as? String, let accessible = Accessibility(code: code) else {
    error?.pointee = Unmanaged.passRetained(
      NSError(
        domain: NSOSStatusErrorDomain, code: Int(errSecParam),
        userInfo: [NSLocalizedDescriptionKey: "the protection is none of kSecAttrAccessible…"]))
    return nil
  }
  return SecAccessControl(accessible, AccessControl(.init(rawValue: UInt64(flags.rawValue))))
}

/// What has to happen before the secret of an item is given out.
///
/// Each of the first five asks a person. There is no fingerprint reader and no watch here: whoever
/// answers `LinuxKeychain.Settings.confirmPresence` is the person, and when nobody can be asked the
/// call answers -25308.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
  /// The bits, as in SecAccessControl.h.
  public let rawValue: CFOptionFlags

  /// Makes a set of flags.
  public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

  /// A person, however recognized.
  public static let userPresence = Self(rawValue: 1 << 0)
  /// A fingerprint or face.
  public static let biometryAny = Self(rawValue: 1 << 1)
  /// The older name of `biometryAny`.
  public static let touchIDAny = Self(rawValue: 1 << 1)
  /// A fingerprint or face of those that are enrolled now.
  public static let biometryCurrentSet = Self(rawValue: 1 << 3)
  /// The older name of `biometryCurrentSet`.
  public static let touchIDCurrentSet = Self(rawValue: 1 << 3)
  /// The passcode of the device.
  public static let devicePasscode = Self(rawValue: 1 << 4)
  /// A device that is worn or near.
  public static let companion = Self(rawValue: 1 << 5)
  /// The older name of `companion`.
  public static let watch = Self(rawValue: 1 << 5)
  /// One of the conditions suffices.
  public static let or = Self(rawValue: 1 << 14)
  /// All of the conditions are needed.
  public static let and = Self(rawValue: 1 << 15)
  /// A private key that signs and never leaves.
  public static let privateKeyUsage = Self(rawValue: 1 << 30)
  /// A password of the program; items with it cannot be stored.
  public static let applicationPassword = Self(rawValue: 1 << 31)
}
