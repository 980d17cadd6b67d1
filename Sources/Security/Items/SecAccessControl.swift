// SPDX-License-Identifier: Apache-2.0

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
