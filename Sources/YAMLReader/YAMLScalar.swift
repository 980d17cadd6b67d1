// SPDX-License-Identifier: Apache-2.0

/// Text in a YAML document, before anybody has asked what type it has.
///
/// No type is guessed: `no` and `012` are what they look like. A reader that knows what belongs
/// there decides, by the form and the tag.
package struct YAMLScalar: Sendable {
  package let text: String
  /// Without the prefix of YAML's own tags: `str` for `!!str`. Nil for none, and for a bare `!`.
  package let coreTag: String?
  /// A tag that YAML itself does not know, such as `!secret`.
  package let ownTag: String?
  /// In quotes, or a block with `|` or `>`: never a number, never nothing.
  package let isQuoted: Bool

  private static let corePrefix = "tag:yaml.org,2002:"

  init(text: String, tag: String?, isQuoted: Bool) {
    self.text = text
    self.isQuoted = isQuoted
    let tag = tag == "!" ? nil : tag
    let isCore = tag?.hasPrefix(Self.corePrefix) == true
    coreTag = isCore ? tag.map { String($0.dropFirst(Self.corePrefix.count)) } : nil
    ownTag = isCore ? nil : tag
  }

  /// Without quotes and not declared to be text, so that its form says its type.
  package var isPlain: Bool {
    !isQuoted && coreTag != "str"
  }

  /// A key with nothing after it, or one of YAML's words for that.
  package var isNull: Bool {
    isPlain && ownTag == nil && ["", "~", "null", "Null", "NULL"].contains(text)
  }
}

/// The text may be a password.
extension YAMLScalar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<\(text.utf8.count) bytes>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
