// SPDX-License-Identifier: Apache-2.0

import YAMLReader

extension YAMLNode {
  /// What a person would call it. Never its content, which may be a misplaced secret.
  var kind: String {
    switch content {
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .scalar(let scalar): scalar.isNull ? "nothing" : scalar.ownTag != nil ? "a tag" : "text"
    }
  }

  /// The text of a scalar that is neither nothing nor tagged as something else.
  var text: String? {
    guard case .scalar(let scalar) = content, !scalar.isNull, scalar.ownTag == nil else {
      return nil
    }
    return scalar.text
  }

  /// A key with nothing after it, or one of YAML's words for that.
  var isNull: Bool {
    guard case .scalar(let scalar) = content else { return false }
    return scalar.isNull
  }
}
