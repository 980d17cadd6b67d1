// SPDX-License-Identifier: Apache-2.0

import Yams

extension Node {
  /// What a person would call it. Never its content, which may be a misplaced secret.
  var kind: String {
    switch self {
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .alias: "an alias"
    case .scalar: isNull ? "nothing" : hasOwnTag ? "a tag" : "text"
    }
  }

  /// The text of a scalar that is neither nothing nor tagged as something else.
  var text: String? {
    guard case .scalar(let scalar) = self, !isNull, !hasOwnTag else { return nil }
    return scalar.string
  }

  /// A scalar without quotes, whose form says its type.
  var isPlain: Bool {
    guard case .scalar(let scalar) = self else { return false }
    return scalar.style == .plain && scalar.tag.rawValue != Tag.Name.str.rawValue
      && scalar.tag.rawValue != Tag.Name.nonSpecific.rawValue
  }

  /// A key with nothing after it, or one of YAML's words for that.
  var isNull: Bool {
    guard isPlain, !hasOwnTag, case .scalar(let scalar) = self else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  /// A tag that YAML itself does not know, such as `!secret`.
  var hasOwnTag: Bool {
    guard case .scalar(let scalar) = self else { return false }
    let tag = scalar.tag.rawValue
    return !tag.isEmpty && tag != Tag.Name.nonSpecific.rawValue
      && !tag.hasPrefix("tag:yaml.org,2002:")
  }
}
