// Public to be inlined across targets only; no product has it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// What a field's values are limited to, and what they mean. A field says it with a literal where only the meaning is
/// its own: `"Whether it can be reached."`.
///
/// Constants alone, so that nothing is made of them while a message is written.
public struct WireForm: Sendable {
  /// Of a definition that messages share; nil: the field has it for itself.
  public let name: StaticString?
  public let about: StaticString
  /// What it means in this field, where the definition has the meaning for all; a text of the documents, as `about`.
  public let note: StaticString
  /// Characters of a text, or elements of a list; of a number the value. Checked when it is read.
  public let least: UInt64
  public let most: UInt64
  /// A regular expression.
  public let pattern: StaticString?
  /// A network key, a PSKc, a code or a dataset: never in anything that is retained.
  public let isSecret: Bool

  @inlinable public init(
    name: StaticString? = nil, _ about: StaticString, least: UInt64 = 0, most: UInt64 = .max,
    pattern: StaticString? = nil, isSecret: Bool = false, note: StaticString = ""
  ) {
    self.name = name
    self.about = about
    self.note = note
    self.least = least
    self.most = most
    self.pattern = pattern
    self.isSecret = isSecret
  }

  /// A text of at least one character, or a list of at least one element.
  @inlinable public static func filled(_ about: StaticString, most: UInt64 = .max) -> WireForm {
    WireForm(about, least: 1, most: most)
  }

  @inlinable public static func text(_ about: StaticString, pattern: StaticString) -> WireForm {
    WireForm(about, pattern: pattern)
  }

  /// The same with a meaning in one field: `.label("As it reported.")`.
  @inlinable public func callAsFunction(_ note: StaticString) -> WireForm {
    WireForm(name: name, about, least: least, most: most, pattern: pattern, isSecret: isSecret, note: note)
  }
}

extension WireForm {
  /// The definition of the value's type, where the field says only what it means here.
  func naming(_ type: WireForm) -> WireForm {
    name == nil && type.name != nil && least == 0 && most == .max && pattern == nil ? type(about) : self
  }

  /// With the limits of the value's type, where it has none of its own.
  func over(_ type: WireForm) -> WireForm {
    WireForm(
      name: name, about, least: least == 0 ? type.least : least, most: most == .max ? type.most : most,
      pattern: pattern ?? type.pattern, isSecret: isSecret || type.isSecret)
  }

  @inlinable func allows(_ number: UInt64) -> Bool { least <= number && number <= most }

  /// Members of a schema; none for what is not limited.
  func bounds(_ lower: String, _ upper: String) -> String {
    (least == 0 ? "" : #", "\#(lower)": \#(least)"#) + (most == .max ? "" : #", "\#(upper)": \#(most)"#)
  }
}

extension WireForm: ExpressibleByStringLiteral {
  @inlinable public init(stringLiteral about: StaticString) { self.init(about) }
}

// What several messages have, by the names of the definitions in the schemas.
extension WireForm {
  @inlinable public static var home: WireForm { WireForm(name: "home", "The home's name.", least: 1) }
  @inlinable public static var user: WireForm { WireForm(name: "user", "A login of the broker.", least: 1, most: 256) }
  @inlinable public static var label: WireForm { WireForm(name: "label", "A text that a router reported.", most: 512) }
  @inlinable public static var extendedAddress: WireForm {
    WireForm(name: "ext_address", "Extended address: 16 digits in lower case.", pattern: "^[0-9a-f]{16}$")
  }
  @inlinable public static var networkName: WireForm {
    WireForm(name: "network_name", "Name of a Thread network.", most: 16)
  }
  @inlinable public static var networkNames: WireForm {
    WireForm(name: "network_names", "Name of a Thread network; of several, all their names.")
  }
  @inlinable public static var channel: WireForm {
    WireForm(name: "channel", "IEEE 802.15.4 channel.", least: 11, most: 26)
  }
  @inlinable public static var panID: WireForm { WireForm(name: "pan_id", "PAN ID.", most: 65_535) }
  @inlinable public static var activeTimestamp: WireForm {
    WireForm(name: "active_timestamp", "Seconds of the Active Timestamp.", most: 281_474_976_710_655)
  }
  @inlinable public static var sharingLogins: WireForm {
    WireForm(
      name: "sharing_logins", "Logins that are no border routers and share credentials of the network.", least: 1)
  }
  @inlinable public static var alertFingerprint: WireForm {
    WireForm(name: "alert_fingerprint", "Names the alert for good.", pattern: "^[0-9a-f]{16}$")
  }
  @inlinable public static var keyFingerprint: WireForm {
    WireForm(name: "key_fingerprint", "Of somebody's public keys.", pattern: "^([0-9a-f]{4}-){7}[0-9a-f]{4}$")
  }
  @inlinable public static var consentID: WireForm {
    WireForm(name: "consent_id", "Of a request for consent.", pattern: "^c-[0-9a-f]{16}$")
  }
  @inlinable public static var requester: WireForm {
    WireForm(name: "requester", "Who asks; what it chose itself is in double quotes.", least: 1)
  }
}
